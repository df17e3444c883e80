package journal

import (
	"fmt"
	"math"

	"callerd/internal/queue"
	journalv1 "callerd/proto/journal/v1"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// loader turns stored messages into records. It keeps the first thing that does not fit.
type loader struct{ err error }

// loadRecord is the inverse of storeRecord; the caller fills in the sequence.
func loadRecord(m *journalv1.Record) (*queue.Record, error) {
	var l loader
	r := &queue.Record{
		At:          m.At,
		Request:     l.request(m.Request),
		Fingerprint: m.Fingerprint,
		Actor:       queue.Actor{Kind: queue.ActorKind(l.byte(m.ActorKind)), Name: m.ActorName},
	}
	if len(m.Outcomes) > 0 {
		r.Outcomes = make([]queue.Outcome, len(m.Outcomes))
	}
	for i, o := range m.Outcomes {
		r.Outcomes[i] = l.outcome(o)
	}
	return r, l.err
}

func (l *loader) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

// byte narrows an enum; a value that does not fit was not written by this format.
func (l *loader) byte(v protoreflect.Enum) uint8 {
	n := v.Number()
	if n < 0 || n > math.MaxUint8 {
		l.fail("%T %d is unknown", v, n)
		return 0
	}
	return uint8(n)
}

func (l *loader) outcome(m *journalv1.Outcome) queue.Outcome {
	switch k := m.GetKind().(type) {
	case *journalv1.Outcome_TicketChanged:
		return l.ticketChanged(k.TicketChanged)
	case *journalv1.Outcome_CounterChanged:
		o := k.CounterChanged
		c := &queue.CounterChanged{
			Verb:    queue.CounterVerb(l.byte(o.Verb)),
			Counter: queue.CounterID(o.Counter),
			Cause:   queue.Cause(l.byte(o.Cause)),
			Note:    o.Note,
		}
		if s := l.session(o.Session); s != nil {
			c.Session = *s
		}
		return c
	case *journalv1.Outcome_CategoryDefined:
		o := l.categoryDefined(k.CategoryDefined)
		return &o
	case *journalv1.Outcome_CounterDefined:
		o := l.counterDefined(k.CounterDefined)
		return &o
	case *journalv1.Outcome_DayOpened:
		return l.dayOpened(k.DayOpened)
	case *journalv1.Outcome_Started:
		return &queue.Started{Version: k.Started.Version, Branch: loadNames(k.Started.Branch)}
	case *journalv1.Outcome_NoticePublished:
		return &queue.NoticePublished{Text: loadNames(k.NoticePublished.Text)}
	case *journalv1.Outcome_BranchNamed:
		return &queue.BranchNamed{Name: loadNames(k.BranchNamed.Name)}
	case *journalv1.Outcome_CreditsChanged:
		return &queue.CreditsChanged{Credits: loadCredits(k.CreditsChanged.Credits)}
	case *journalv1.Outcome_CategoryReset:
		return &queue.CategoryReset{Category: queue.CategoryID(k.CategoryReset.Category), Why: k.CategoryReset.Why}
	case *journalv1.Outcome_ClockAccepted:
		return &queue.ClockAccepted{From: k.ClockAccepted.From, To: k.ClockAccepted.To}
	case *journalv1.Outcome_ResourceDefined:
		o := loadResourceDefined(k.ResourceDefined)
		return &o
	case *journalv1.Outcome_ResourceChanged:
		return l.resourceChanged(k.ResourceChanged)
	default:
		l.fail("an outcome of a kind that this program does not know")
		return nil
	}
}

func (l *loader) ticketChanged(m *journalv1.TicketChanged) *queue.TicketChanged {
	return &queue.TicketChanged{
		Verb:     queue.Verb(l.byte(m.Verb)),
		Ticket:   loadTicketID(m.Ticket),
		Number:   m.Number,
		From:     queue.State(l.byte(m.From)),
		To:       queue.State(l.byte(m.To)),
		Category: queue.CategoryID(m.Category),
		Counter:  queue.CounterID(m.Counter),
		Holder:   queue.CounterID(m.Holder),
		Key:      loadKey(m.Key),
		Cause:    queue.Cause(l.byte(m.Cause)),
		Note:     m.Note,
		Rule:     queue.Rule(l.byte(m.Rule)),
		Waited:   m.Waited,

		Overtaken:    m.Overtaken,
		PassedOver:   l.passedOver(m.PassedOver),
		Priority:     queue.PriorityReason(l.byte(m.Priority)),
		Person:       m.Person,
		Where:        queue.Where(l.byte(m.Where)),
		After:        m.After,
		FromCategory: queue.CategoryID(m.FromCategory),
		Bound:        queue.CounterID(m.Bound),
		Renumbered:   loadRenumbered(m.Renumbered),
		Deadline:     m.Deadline,
	}
}

func (l *loader) session(m *journalv1.Session) *queue.Session {
	if m == nil {
		return nil
	}
	return &queue.Session{
		Epoch:      m.Epoch,
		Request:    l.request(m.Request),
		Teller:     m.Teller,
		Categories: loadCategories(m.Categories),
		Rule:       queue.Rule(l.byte(m.Rule)),
		Weights:    m.Weights,
	}
}

func (l *loader) categoryDefined(m *journalv1.CategoryDefined) queue.CategoryDefined {
	return queue.CategoryDefined{
		ID:     queue.CategoryID(m.GetId()),
		Order:  int(m.GetOrder()),
		Name:   loadNames(m.GetName()),
		Prefix: m.GetPrefix(),
		Width:  int(m.GetWidth()),
		Open:   m.GetOpen(),
	}
}

func (l *loader) counterDefined(m *journalv1.CounterDefined) queue.CounterDefined {
	return queue.CounterDefined{
		ID:         queue.CounterID(m.GetId()),
		Categories: loadCategories(m.GetCategories()),
		Rule:       queue.Rule(l.byte(m.GetRule())),
		Weights:    m.GetWeights(),
		Configured: m.GetConfigured(),
	}
}

func (l *loader) dayOpened(m *journalv1.DayOpened) *queue.DayOpened {
	o := &queue.DayOpened{
		Day:    loadDay(m.Day),
		Zone:   m.Zone,
		Cut:    m.Cut,
		Branch: loadNames(m.Branch),
		Notice: loadNames(m.Notice),
		Latest: m.Latest,
		Runs:   m.Runs,
	}
	for _, c := range m.Credits {
		o.Credits = append(o.Credits, loadCredits(c))
	}
	for _, r := range m.Resources {
		o.Resources = append(o.Resources, loadResource(r))
	}
	for _, c := range m.Categories {
		o.Categories = append(o.Categories, queue.DayCategory{
			CategoryDefined: l.categoryDefined(c.Category),
			ServiceMean:     c.ServiceMean,
		})
	}
	for _, c := range m.Counters {
		o.Counters = append(o.Counters, queue.DayCounter{
			CounterDefined: l.counterDefined(c.Counter),
			Epoch:          c.Epoch,
			Session:        l.session(c.Session),
			Paused:         c.Paused,
			Current:        l.ticket(c.Current),
		})
	}
	return o
}

func (l *loader) ticket(m *journalv1.Ticket) *queue.Ticket {
	if m == nil {
		return nil
	}
	if m.Calls > math.MaxUint16 {
		l.fail("a ticket with %d calls", m.Calls)
	}
	return &queue.Ticket{Standing: queue.Standing{
		ID:       loadTicketID(m.Id),
		Number:   m.Number,
		Category: queue.CategoryID(m.Category),
		State:    queue.State(l.byte(m.State)),
		Calls:    uint16(m.Calls),
		Counter:  queue.CounterID(m.Counter),
		Key:      loadKey(m.Key),
		Entered:  m.Entered,
		Issued:   m.Issued,
		Version:  m.Version,

		Priority:  queue.PriorityReason(l.byte(m.Priority)),
		First:     m.First,
		Deadline:  m.Deadline,
		Bound:     queue.CounterID(m.Bound),
		Overtaken: m.Overtaken,
	}, Times: queue.Times{Called: m.Called, Started: m.Started, Ended: m.Ended}}
}

func (l *loader) request(b []byte) (id queue.RequestID) {
	if n := copy(id[:], b); len(b) != 0 && (n != len(id) || n != len(b)) {
		l.fail("a request id of %d bytes", len(b))
	}
	return id
}

func loadTicketID(m *journalv1.TicketID) queue.TicketID {
	return queue.TicketID{Day: loadDay(m.GetDay()), Category: queue.CategoryID(m.GetCategory()), N: m.GetN()}
}

func loadDay(m *journalv1.Day) queue.Day { return queue.Day{Date: m.GetDate(), Run: m.GetRun()} }

func loadNames(m *journalv1.Names) queue.Names { return queue.Names{Zh: m.GetZh(), En: m.GetEn()} }

func loadKey(m *journalv1.OrderKey) queue.OrderKey {
	return queue.OrderKey{Entry: m.GetEntry(), Sub: m.GetSub()}
}

func loadCategories(s []string) []queue.CategoryID {
	if len(s) == 0 {
		return nil
	}
	ids := make([]queue.CategoryID, len(s))
	for i, id := range s {
		ids[i] = queue.CategoryID(id)
	}
	return ids
}
