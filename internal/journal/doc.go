// Package journal is the ordered log of a branch, in one bbolt file: append a batch, read it back. It
// knows records and sequences, and nothing of the rules of the hall.
//
//   - A [Journal] is open for writing; one process at a time has it, and one goroutine appends.
//   - A [Reader] reads a journal that no daemon has open, and changes nothing.
//   - A batch is what one transaction makes durable: some records in a row, stored as one value with
//     their count and a CRC-32C, under the sequence of the first.
//   - A day bucket holds the batches of one business day and is named by the sequence of its first
//     record, the one that opened the day.
//   - The head says where the journal begins and ends; every transaction rewrites it.
//
// # Caveats
//
// A nil error of [Journal.Append] is the only thing that says a record is on disk. What [Journal.Replay]
// reads at start was synced by [Open].
//
// bbolt believes what a file says: on a damaged one it panics, runs in circles or is killed by a signal.
// So nothing is read through it before the package's own reader, which believes nothing, has been over
// the pages. See DESIGN.md.
package journal
