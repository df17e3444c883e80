package main

import "callerd/cmd/kiosk-sim/internal/sim"

// mixFlags change single shares of the mix.
type mixFlags struct {
	Priority *float64 `help:"Share of customers in the priority lane."`
	Person   *float64 `help:"Share of customers with a person key."`
	Reserve  *float64 `help:"Share of numbers reserved from afar."`
	Absent   *float64 `help:"Share of those who never check in."`
	Late     *float64 `help:"Share of no-shows who come back."`
	Given    *float64 `help:"Share of calls that name the ticket."`
	Requeue  *float64 `help:"Share of services that end with the ticket back in the line."`
	Transfer *float64 `help:"Share of services that go on in another category's line."`
	Send     *float64 `help:"Share of services that go on at another counter."`
	Move     *float64 `help:"Share of turns in which somebody who waits is moved."`
	Close    *float64 `help:"Share of turns in which a teller leaves and comes back."`
	TakeOver *float64 `name:"take-over" help:"Share of turns in which a supervisor takes the counter over."`
	Die      *float64 `help:"Share of turns in which a console dies until its lease has ended; the daemon's lease should be short."`
	Acquire  *float64 `help:"Share of services that borrow resources."`
	Keep     *float64 `help:"Share of those that never give them back."`
}

// mix is the one of that name with what the flags change.
func (f *mixFlags) mix(name string) sim.Mix {
	m := sim.Mixes[name]
	shares := m.Shares()
	for name, p := range map[string]*float64{
		"priority": f.Priority, "person": f.Person, "reserve": f.Reserve, "absent": f.Absent, "late": f.Late, "given": f.Given,
		"requeue": f.Requeue, "transfer": f.Transfer, "send": f.Send, "move": f.Move, "close": f.Close, "take-over": f.TakeOver,
		"die": f.Die, "acquire": f.Acquire, "keep": f.Keep,
	} {
		if p != nil {
			*shares[name] = *p
		}
	}
	return m
}
