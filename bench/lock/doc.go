// Package lock measures the ticket lock of internal/arch beside other locks: sync.Mutex, a plain spinning ticket lock with and
// without Gosched, an MCS queue lock, and a channel of one slot.
//
// # Nouns
//
// A [Row] is one situation: so many goroutines on so many processors, with a section of so long and so much work outside. A
// [Cell] is what one lock did in it. A [Result] has all rows.
//
// # What is measured
//
// In every row all locks take turns, a slice of some milliseconds each, several rounds of it in one process: absolute times
// drift with what else the machine does, and the ratio to sync.Mutex in the same round holds. Time an operation, the processor
// time burnt and the fairness come from slices without a clock in the loop; the waits from slices of their own, with one.
// The loops of sync.Mutex and of the ticket lock are written out, so that both locks are inlined; the others are called
// through sync.Locker, which costs them about two nanoseconds.
//
// A lock that gets nowhere is stopped at the end of its slice, is not measured again, and is shown as "> x": no operation took
// less than that.
//
// # What counts as overtaken
//
// Numbers drawn before Lock prove nothing: who drew first may lose its processor before the lock sees it. So a line is made and
// looked at. The measurer holds the lock; half of the goroutines call it; the measurer goes on when all of them are seen waiting in the
// lock, in a stop-the-world dump of all stacks or by the lock's own count of its line. Then the other half calls, and is seen too. Then
// the lock is let go, and all go on calling. A section is an overtaking if somebody who was seen in line before its caller even
// called still waits: the second half before the first, and every later call before both. All of these are overtakings
// whatever the machine did, so the count is a lower bound; within a half nobody knows the order and nothing is counted. It is
// 0 for a lock that is first come, first served, however goroutines and threads are scheduled, and, but for luck, only for such a lock.
package lock
