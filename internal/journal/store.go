package journal

import (
	"fmt"

	"callerd/internal/queue"
	journalv1 "callerd/proto/journal/v1"
)

// storeRecord writes a record over m, all but its sequence, which its place in the batch tells.
func storeRecord(m *journalv1.Record, r *queue.Record) error {
	m.At = r.At
	m.Request = storeRequest(r.Request)
	m.Fingerprint = r.Fingerprint
	m.ActorKind = journalv1.ActorKind(r.Actor.Kind)
	m.ActorName = r.Actor.Name
	clear(m.Outcomes)
	m.Outcomes = m.Outcomes[:0]
	for _, o := range r.Outcomes {
		s, err := storeOutcome(o)
		if err != nil {
			return err
		}
		m.Outcomes = append(m.Outcomes, s)
	}
	return nil
}

func storeOutcome(o queue.Outcome) (*journalv1.Outcome, error) {
	switch o := o.(type) {
	case *queue.TicketChanged:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_TicketChanged{TicketChanged: storeTicketChanged(o)}}, nil
	case *queue.CounterChanged:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_CounterChanged{CounterChanged: storeCounterChanged(o)}}, nil
	case *queue.CategoryDefined:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_CategoryDefined{CategoryDefined: storeCategoryDefined(o)}}, nil
	case *queue.CounterDefined:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_CounterDefined{CounterDefined: storeCounterDefined(o)}}, nil
	case *queue.DayOpened:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_DayOpened{DayOpened: storeDayOpened(o)}}, nil
	case *queue.Started:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_Started{Started: &journalv1.Started{
			Version: o.Version,
			Branch:  storeNames(o.Branch),
		}}}, nil
	case *queue.NoticePublished:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_NoticePublished{NoticePublished: &journalv1.NoticePublished{
			Text: storeNames(o.Text),
		}}}, nil
	case *queue.BranchNamed:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_BranchNamed{BranchNamed: &journalv1.BranchNamed{Name: storeNames(o.Name)}}}, nil
	case *queue.CreditsChanged:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_CreditsChanged{CreditsChanged: &journalv1.CreditsChanged{
			Credits: storeCredits(&o.Credits),
		}}}, nil
	case *queue.CategoryReset:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_CategoryReset{CategoryReset: &journalv1.CategoryReset{
			Category: string(o.Category), Why: o.Why,
		}}}, nil
	case *queue.ClockAccepted:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_ClockAccepted{ClockAccepted: &journalv1.ClockAccepted{From: o.From, To: o.To}}}, nil
	case *queue.ResourceDefined:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_ResourceDefined{ResourceDefined: storeResourceDefined(o)}}, nil
	case *queue.ResourceChanged:
		return &journalv1.Outcome{Kind: &journalv1.Outcome_ResourceChanged{ResourceChanged: storeResourceChanged(o)}}, nil
	default:
		return nil, fmt.Errorf("outcome %T cannot be stored", o)
	}
}

func storeTicketChanged(o *queue.TicketChanged) *journalv1.TicketChanged {
	return &journalv1.TicketChanged{
		Verb:     journalv1.Verb(o.Verb),
		Ticket:   storeTicketID(o.Ticket),
		Number:   o.Number,
		From:     journalv1.State(o.From),
		To:       journalv1.State(o.To),
		Category: string(o.Category),
		Counter:  uint32(o.Counter),
		Holder:   uint32(o.Holder),
		Key:      storeKey(o.Key),
		Cause:    journalv1.Cause(o.Cause),
		Note:     o.Note,
		Rule:     journalv1.Rule(o.Rule),
		Waited:   o.Waited,

		Overtaken:    o.Overtaken,
		PassedOver:   storePassedOver(o.PassedOver),
		Priority:     journalv1.Priority(o.Priority),
		Person:       o.Person,
		Where:        journalv1.Where(o.Where),
		After:        o.After,
		FromCategory: string(o.FromCategory),
		Bound:        uint32(o.Bound),
		Renumbered:   storeRenumbered(o.Renumbered),
		Deadline:     o.Deadline,
	}
}

func storeCounterChanged(o *queue.CounterChanged) *journalv1.CounterChanged {
	return &journalv1.CounterChanged{
		Verb:    journalv1.CounterVerb(o.Verb),
		Counter: uint32(o.Counter),
		Cause:   journalv1.Cause(o.Cause),
		Note:    o.Note,
		Session: storeSession(&o.Session),
	}
}

func storeSession(s *queue.Session) *journalv1.Session {
	if s == nil {
		return nil
	}
	return &journalv1.Session{
		Epoch:      s.Epoch,
		Request:    storeRequest(s.Request),
		Teller:     s.Teller,
		Categories: storeCategories(s.Categories),
		Rule:       journalv1.Rule(s.Rule),
		Weights:    s.Weights,
	}
}

func storeCategoryDefined(o *queue.CategoryDefined) *journalv1.CategoryDefined {
	return &journalv1.CategoryDefined{
		Id:     string(o.ID),
		Order:  int64(o.Order),
		Name:   storeNames(o.Name),
		Prefix: o.Prefix,
		Width:  int64(o.Width),
		Open:   o.Open,
	}
}

func storeCounterDefined(o *queue.CounterDefined) *journalv1.CounterDefined {
	return &journalv1.CounterDefined{
		Id:         uint32(o.ID),
		Categories: storeCategories(o.Categories),
		Rule:       journalv1.Rule(o.Rule),
		Weights:    o.Weights,
		Configured: o.Configured,
	}
}

func storeDayOpened(o *queue.DayOpened) *journalv1.DayOpened {
	m := &journalv1.DayOpened{
		Day:    storeDay(o.Day),
		Zone:   o.Zone,
		Cut:    o.Cut,
		Branch: storeNames(o.Branch),
		Notice: storeNames(o.Notice),
		Latest: o.Latest,
		Runs:   o.Runs,
	}
	for i := range o.Credits {
		m.Credits = append(m.Credits, storeCredits(&o.Credits[i]))
	}
	for i := range o.Resources {
		m.Resources = append(m.Resources, storeResource(&o.Resources[i]))
	}
	for i := range o.Categories {
		c := &o.Categories[i]
		m.Categories = append(m.Categories, &journalv1.DayCategory{
			Category:    storeCategoryDefined(&c.CategoryDefined),
			ServiceMean: c.ServiceMean,
		})
	}
	for i := range o.Counters {
		c := &o.Counters[i]
		m.Counters = append(m.Counters, &journalv1.DayCounter{
			Counter: storeCounterDefined(&c.CounterDefined),
			Epoch:   c.Epoch,
			Session: storeSession(c.Session),
			Paused:  c.Paused,
			Current: storeTicket(c.Current),
		})
	}
	return m
}

func storeTicket(t *queue.Ticket) *journalv1.Ticket {
	if t == nil {
		return nil
	}
	return &journalv1.Ticket{
		Id:       storeTicketID(t.ID),
		Number:   t.Number,
		Category: string(t.Category),
		State:    journalv1.State(t.State),
		Calls:    uint32(t.Calls),
		Counter:  uint32(t.Counter),
		Key:      storeKey(t.Key),
		Entered:  t.Entered,
		Issued:   t.Issued,
		Called:   t.Called,
		Started:  t.Started,
		Ended:    t.Ended,
		Version:  t.Version,

		Priority:  journalv1.Priority(t.Priority),
		First:     t.First,
		Deadline:  t.Deadline,
		Bound:     uint32(t.Bound),
		Overtaken: t.Overtaken,
	}
}

func storeTicketID(id queue.TicketID) *journalv1.TicketID {
	return &journalv1.TicketID{Day: storeDay(id.Day), Category: string(id.Category), N: id.N}
}

func storeDay(d queue.Day) *journalv1.Day { return &journalv1.Day{Date: d.Date, Run: d.Run} }

func storeNames(n queue.Names) *journalv1.Names {
	if n == (queue.Names{}) {
		return nil
	}
	return &journalv1.Names{Zh: n.Zh, En: n.En}
}

func storeKey(k queue.OrderKey) *journalv1.OrderKey {
	if k == (queue.OrderKey{}) {
		return nil
	}
	return &journalv1.OrderKey{Entry: k.Entry, Sub: k.Sub}
}

func storeRequest(id queue.RequestID) []byte {
	if id == (queue.RequestID{}) {
		return nil
	}
	return id[:]
}

func storeCategories(ids []queue.CategoryID) []string {
	if len(ids) == 0 {
		return nil
	}
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = string(id)
	}
	return s
}
