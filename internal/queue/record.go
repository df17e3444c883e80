package queue

// RequestID is the UUID by which a caller can ask again. The zero value is none: the system's own operations.
type RequestID [16]byte

// Record is one operation as it is kept: one sequence, one or more outcomes, or none of it. Once claimed
// it is never changed, so it may be read without a lock.
type Record struct {
	Sequence    uint64 // position in the branch's one order, from 1, without gap
	At          int64  // Unix nanoseconds; never before the newest DayOpened
	Request     RequestID
	Fingerprint uint64 // of what was asked, to tell a retry from a reuse of the id
	Actor       Actor
	Outcomes    []Outcome
}

// Actor is who caused a record. The zero value is the system itself.
type Actor struct {
	Kind ActorKind
	Name string // of the kiosk, teller or person; may be empty
}

// ActorKind says what caused a record. The values are stored: never renumber them.
type ActorKind uint8

// The kinds of actor.
const (
	System ActorKind = iota // deadlines, leases, the business day, start-up
	Kiosk                   // a kiosk or the customer at it
	Teller                  // a counter's session
	Staff                   // somebody with a name and a reason
)

// Outcome is one fact: a pointer to one of the types below.
type Outcome interface{ outcome() }

// OrderKey places a waiting ticket in its line: smaller is called first. Keys compare across lanes and
// categories. A new entry is the sequence of the record that made it, so it needs no counter of its own.
type OrderKey struct{ Entry, Sub int64 }

// Before reports whether k is called before l.
func (k OrderKey) Before(l OrderKey) bool {
	return k.Entry < l.Entry || k.Entry == l.Entry && k.Sub < l.Sub
}

// Cause says why the system itself did something. The values are stored: never renumber them.
type Cause uint8

// The causes. The zero value: somebody asked for it.
const (
	Asked      Cause = iota
	LeaseEnded       // the console was not heard of within its lease
	TakenOver        // another session took the counter over
	TimeUp           // a deadline passed
	Unbound          // the counter that the ticket was bound to has closed
	LimitMet         // the last recall that the configuration allows had been made
)

// Rule is how a counter chooses among its lines. The values are stored: never renumber them.
type Rule uint8

// The rules. The zero value stands for the configured one and is never stored.
const (
	Oldest   Rule = iota + 1 // the ticket that entered first, whatever its category
	Priority                 // the first category of the list that has a waiting ticket
	Ratio                    // the categories in turn, by their weights
	Overdue                  // over all rules: passed over too often, or waiting too long
	Bound                    // over all rules: transferred to this very counter
	Given                    // the teller named the ticket
)

// PriorityReason is why a customer is in the priority lane. The values are stored: never renumber them.
type PriorityReason uint8

// The reasons. The zero value: none, the regular lane.
const (
	NoPriority PriorityReason = iota
	Elderly                   // 老年人
	Disabled                  // 残障人士
	Pregnant                  // 孕妇
	Military                  // 军人
	numPriorities
)

// Lane returns the lane that the reason leads to.
func (p PriorityReason) Lane() Lane {
	if p == NoPriority {
		return RegularLane
	}
	return PriorityLane
}

// TicketChanged is one verb done to one ticket.
type TicketChanged struct {
	Verb     Verb
	Ticket   TicketID
	Number   string // as printed
	From, To State
	Category CategoryID // in whose line the ticket is or last was
	Counter  CounterID  // where it happened; 0 for what happens at no counter
	// Holder is the counter that held the ticket before; differs from Counter only for a resume elsewhere.
	Holder CounterID
	Key    OrderKey // place in the line, if To is Waiting; zero stands for {record's sequence, 0}
	Cause  Cause
	Note   string // a reason in words
	// For calls: why this ticket.
	Rule       Rule
	Waited     int64 // nanoseconds from entering the line to the call
	Overtaken  uint32
	PassedOver []PassedOver
	// For issue and reserve.
	Priority PriorityReason
	Person   string // an opaque hash made by the kiosk
	// For what goes into a line: where, and which category's line it was in before, if that is another.
	Where        Where
	After        uint32 // for Where After: behind so many
	FromCategory CategoryID
	Bound        CounterID    // waits for this very counter
	Renumbered   []Renumbered // others, in the line that the ticket goes into
	// Deadline is when the new state ends by itself, Unix ns; 0: never.
	Deadline int64
}

// PassedOver is a lane from which tickets with earlier keys stayed behind when another was called.
type PassedOver struct {
	Category CategoryID
	Lane     Lane
	Count    uint32   // of tickets
	First    TicketID // the longest waiting of them
}

// Lane is one of a category's two lanes. The values are stored: never renumber them.
type Lane uint8

// The lanes.
const (
	RegularLane Lane = iota
	PriorityLane
	numLanes
)

// CreditsChanged is the new state of the rule Ratio for one list of categories and weights: what each category has
// saved up.
type CreditsChanged struct{ Credits }

// Credits is what the categories of a list have saved up under the rule Ratio.
type Credits struct {
	Categories []CategoryID
	Weights    []uint32 // beside Categories
	Saved      []int64  // beside Categories
}

// CategoryReset expires every open ticket of a category's series, whatever it waits for; numbers go on.
type CategoryReset struct {
	Category CategoryID
	Why      string
}

// ClockAccepted says that somebody accepted a clock that is far behind the newest record: time goes on from To, and what
// was due in the future is due as much earlier.
type ClockAccepted struct{ From, To int64 } // Unix ns

// CounterVerb is what is done to a counter. The values are stored: never renumber them.
type CounterVerb uint8

// The verbs of a counter.
const (
	OpenCounter CounterVerb = iota + 1
	PauseCounter
	ResumeCounter
	CloseCounter
)

// CounterChanged is one verb done to a counter.
type CounterChanged struct {
	Verb    CounterVerb
	Counter CounterID
	Cause   Cause
	Note    string
	// For OpenCounter: the session.
	Session Session
}

// Session is a teller's lease on a counter, as far as it is kept. Its token is derived from the counter,
// the epoch and the request, so that a retried OpenCounter gets the same one.
type Session struct {
	Epoch      uint64 // grows with each session of the counter
	Request    RequestID
	Teller     string
	Categories []CategoryID
	Rule       Rule
	Weights    []uint32 // beside Categories, for the rule Ratio
}

// Names is a text in the languages of the hall; each may be empty.
type Names struct{ Zh, En string }

// CategoryDefined makes a category exist, or changes it. One that is missing from the configuration is
// defined as not Open: its tickets are kept, it issues no more.
type CategoryDefined struct {
	ID     CategoryID
	Order  int // place in the configuration, from 0
	Name   Names
	Prefix string
	Width  int // digits, padded with zeros
	Open   bool
}

// CounterDefined makes a counter exist, or changes it. One that is missing from the configuration is
// defined as not Configured: it takes no new session.
type CounterDefined struct {
	ID         CounterID
	Categories []CategoryID // what it serves unless the session says otherwise
	Rule       Rule
	Weights    []uint32 // beside Categories, for the rule Ratio
	Configured bool
}

// DayOpened begins a business day. It carries the whole state that outlives a day, so that a replay can
// begin with it: what is not named here has ended.
type DayOpened struct {
	Day        Day
	Latest     int32  // newest date that a business day ever had
	Runs       int32  // highest run that a business day ever had
	Zone       string // IANA name
	Cut        int64  // nanoseconds of local time after midnight at which the day turns
	Branch     Names
	Notice     Names
	Categories []DayCategory
	Counters   []DayCounter
	Credits    []Credits
	Resources  []Resource
}

// DayCategory is what a category takes into a new day.
type DayCategory struct {
	CategoryDefined
	ServiceMean int64 // recent mean service time, nanoseconds; 0: nothing served yet
}

// DayCounter is what a counter takes into a new day.
type DayCounter struct {
	CounterDefined
	Epoch   uint64
	Session *Session // nil when closed
	Paused  bool
	Current *Ticket // a ticket being served, completed in its old day; nil when there is none
}

// Started is written at each start, and waited for, before anything is answered: what was replayed may
// have existed in the page cache only.
type Started struct {
	Version string // of the program
	Branch  Names
}

// BranchNamed gives the branch another name.
type BranchNamed struct{ Name Names }

// NoticePublished puts a text on the displays; empty texts take it away.
type NoticePublished struct{ Text Names }

func (*TicketChanged) outcome()   {}
func (*CounterChanged) outcome()  {}
func (*CreditsChanged) outcome()  {}
func (*CategoryReset) outcome()   {}
func (*ClockAccepted) outcome()   {}
func (*ResourceDefined) outcome() {}
func (*ResourceChanged) outcome() {}
func (*CategoryDefined) outcome() {}
func (*CounterDefined) outcome()  {}
func (*DayOpened) outcome()       {}
func (*Started) outcome()         {}
func (*NoticePublished) outcome() {}
func (*BranchNamed) outcome()     {}
