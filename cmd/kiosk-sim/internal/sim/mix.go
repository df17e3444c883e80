package sim

// Mix is how often the rarer things of the trade happen, as shares from 0 to 1. The zero value is a hall in which nothing
// but calling, serving and giving up happens.
type Mix struct {
	// Of the customers: in the priority lane, with a person key, reserved from afar, and how many of those never arrive.
	Priority, Person, Reserve, Absent float64
	// Late is the share of no-shows who come back.
	Late float64
	// Of the services: called by name instead of in turn, put back into the line, sent into another line, to another counter.
	Given, Requeue, Transfer, Send float64
	// Of the turns: a waiting ticket is moved, the teller leaves and comes back, a supervisor takes the counter over, the
	// console dies after a call and is not heard of until its lease has ended.
	Move, Close, TakeOver, Die float64
	// Acquire is the share of services that need shared resources; Keep the share of those that never give them back.
	Acquire, Keep float64
}

// Mixes are the mixes that have a name. What the daemon must be configured for happens in none of them.
var Mixes = map[string]Mix{
	"calm": {},
	"default": {Priority: 0.05, Person: 0.2, Reserve: 0.03, Absent: 0.2, Late: 0.5, Given: 0.01, Requeue: 0.02, Transfer: 0.03, Send: 0.01,
		Move: 0.005, Close: 0.005, TakeOver: 0.003, Acquire: 0.1, Keep: 0.02},
	"wild": {Priority: 0.25, Person: 0.6, Reserve: 0.2, Absent: 0.3, Late: 0.8, Given: 0.08, Requeue: 0.1, Transfer: 0.12, Send: 0.08,
		Move: 0.05, Close: 0.03, TakeOver: 0.02, Die: 0.003, Acquire: 0.3, Keep: 0.1},
}

// Shares lists the mix by the names of its flags.
func (m *Mix) Shares() map[string]*float64 {
	return map[string]*float64{
		"priority": &m.Priority, "person": &m.Person, "reserve": &m.Reserve, "absent": &m.Absent, "late": &m.Late, "given": &m.Given,
		"requeue": &m.Requeue, "transfer": &m.Transfer, "send": &m.Send, "move": &m.Move, "close": &m.Close, "take-over": &m.TakeOver,
		"die": &m.Die, "acquire": &m.Acquire, "keep": &m.Keep,
	}
}
