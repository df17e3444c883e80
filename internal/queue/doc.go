// Package queue holds the nouns of the hall and the rules of one line.
//
//   - A [Ticket] (号票) is one customer's number, from [State] to [State] by a [Verb];
//     [Next] is the whole table of what may happen to it.
//   - A [Category] (业务类别) is a series of numbers, the issued/serving pair, and a
//     line (等候队列) of waiting tickets in call order, all guarded by one ticket lock.
//   - A [Record] is one operation as it is kept: a sequence, a time and the [Outcome]s. It holds what
//     happened, not what was asked, so that it replays alike under any later policy.
//
// # Caveats
//
// Times are Unix nanoseconds: they order nothing. Only the sequence of a record orders.
//
// Methods of Category say which lock the caller holds; none of them does I/O, waits or logs.
package queue
