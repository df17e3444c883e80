package queue

// Ticket (号票) is one customer's number and what has become of it. It is a plain value: copies are
// snapshots. Which lock guards the live one: its counter's while it is called, served or held there, its
// category's otherwise.
type Ticket struct {
	Standing
	Times
}

// Standing is what every ticket has.
type Standing struct {
	ID        TicketID
	Number    string     // as printed, shown and spoken; made once, never changed
	Category  CategoryID // in whose line it is or last was
	State     State
	Priority  PriorityReason
	Calls     uint16    // announcements: the first call and every recall or resume
	Counter   CounterID // where it is or last was; 0: at none yet
	Key       OrderKey  // place in the line while waiting; kept afterwards, for who is sent back to the same place
	Entered   int64     // when it entered the line it is or last was in, Unix ns
	Issued    int64     // Unix ns
	Version   uint64    // sequence of the last record that changed it
	First     int64     // its first entry into a line: the sequence of that record; 0: it never waited
	Deadline  int64     // when its state ends by itself, Unix ns; 0: never
	Bound     CounterID // waits for this very counter; 0: for any
	Overtaken uint32    // how often it was passed over since it entered
}

// Times is what becomes of a ticket behind the line, Unix ns; 0: not yet.
type Times struct {
	Called  int64 // first call; a recall never changes it
	Started int64
	Ended   int64 // when it reached a final state
}
