// Package hub fans committed frames out, in order, to WebSocket displays and to watchers in this
// process. It knows bytes and positions; what a frame says is its users' business.
//
// # Nouns
//
// A stream is a named series of frames with growing sequences, for example the hall's, or that of
// the display over counter 3. A [Message] is one frame of one stream. The last frames of a stream
// are its history. A [Subscription] is a cursor into the history of one stream.
//
// # Caveats
//
// Order and completeness between a snapshot and the frames after it are only as good as the lock
// that the caller holds around [Hub.Append] and [Hub.Join] together.
//
// A subscription that falls too far behind ends with [ErrLagging]; its display is told to come
// back (4001). Nobody else notices. What it has missed is still in the history when it returns.
//
// A connection that takes no bytes at all until the write deadline cannot be told anything, since
// part of a frame may be under way: it is cut, and its display sees 1006.
//
// # Threads
//
// The publisher, inside Append: takes the stream's lock, stores one pointer, wakes at most one
// watcher and starts at most one sweeper. Never more, however many there are.
//
// Sweepers, a few for a stream that has something to send, none else: write to the connections that
// have seen everything before. They never wait.
//
// One goroutine a connection, the caller of [Hub.Serve]: reads, discards, answers pings, notices the
// end.
//
// One more for a connection that did not take a whole frame at once, until it has caught up: writes,
// waiting until the deadline. And a timer's, now and then, for a display that pings of its own.
//
// [Options].Encode and Heartbeat run on whichever of these writes, never on the publisher: a panic there ends the process.
package hub
