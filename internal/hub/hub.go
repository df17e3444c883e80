package hub

import (
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Options sets a Hub up. Every zero value is a usable default, but a Hub that serves WebSockets
// needs Encode.
type Options struct {
	// Encode turns a Message's Value into its text frame. It is called at most once for a message,
	// never by who appends, with no lock held.
	Encode func(value any) []byte

	// Heartbeat makes the Value of a heartbeat; sequence repeats the stream's last. Nil: none.
	Heartbeat func(stream string, sequence uint64) any

	HeartbeatEvery time.Duration // silence after which a heartbeat is sent; zero: 5 s
	History        int           // frames kept per stream for those that resume or lag; zero: DefaultHistory
	Lag            int           // frames a subscription may fall behind after joining; zero: 4096, at most History
	WriteTimeout   time.Duration // how long one frame may take to leave; zero: 5 s

	Now    func() time.Time // for sockets only: their deadlines and silences; a lock is held; nil: time.Now
	Logger *slog.Logger     // nil discards
}

// DefaultHistory is how many frames of a stream are kept when Options do not say.
const DefaultHistory = 16384

// Hub is a set of streams and their subscribers. Its methods may be called by any goroutine.
type Hub struct {
	options  Options
	sweepers int                                     // of a stream, at most
	write    func(fd uintptr, b []byte) (int, error) // writeOnce; the tests' kernels take less
	count    counters
	closing  chan struct{} // closed by Close

	mu      sync.Mutex // guards all below; taken before no other lock of this package
	streams map[string]*stream
	serving map[*connection]struct{}
	closed  bool
	done    sync.WaitGroup // one for each connection being served
}

// New returns an empty hub. It starts no goroutine.
func New(o Options) *Hub {
	if o.HeartbeatEvery <= 0 {
		o.HeartbeatEvery = 5 * time.Second
	}
	if o.History <= 0 {
		o.History = DefaultHistory
	}
	if o.Lag <= 0 {
		o.Lag = 4096
	}
	o.Lag = min(o.Lag, o.History)
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Hub{
		options:  o,
		sweepers: min(runtime.GOMAXPROCS(0), mostSweepers),
		write:    writeOnce,
		closing:  make(chan struct{}),
		streams:  make(map[string]*stream),
		serving:  make(map[*connection]struct{}),
	}
}

// Append adds a frame to a stream, behind the stream's last, and wakes the subscribers. It never
// blocks on them, never encodes and never touches a socket; it costs the same for one subscriber
// and for a thousand.
//
// sequence must be above the stream's last: a frame that is not is refused, counted and logged as
// an error, for no display could place it.
func (h *Hub) Append(stream string, sequence uint64, value any) {
	last, ok := h.stream(stream).append(sequence, value)
	if !ok {
		h.count.refused.Add(1)
		h.options.Logger.Error("frame out of order", "stream", stream, "sequence", sequence, "last", last)
		return
	}
	h.count.appended.Add(1)
}

// Seed sets a stream's last sequence without a frame, as after a replay. It forgets the history,
// whose frames no longer lead to the last one.
func (h *Hub) Seed(stream string, sequence uint64) {
	h.stream(stream).seed(sequence)
}

// Last returns the sequence of the stream's last frame, zero if it never had one.
func (h *Hub) Last(stream string) uint64 {
	st := h.stream(stream)
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.last
}

// Join subscribes to a stream.
//
// With resume, and if after names a frame whose successors are all still kept (or the last frame),
// the subscription starts behind it, and gets a heartbeat as soon as it has all it missed: one that
// missed nothing must not wait for the next silence to learn that all is well. Otherwise its first message is first(), with the stream's
// last sequence and Previous zero, and everything appended later follows. Zero never names a frame.
//
// The caller holds a lock of its own around Append and Join, so that first() sees exactly what the
// frames up to the last one have made; then there is neither gap nor repeat.
//
// After Close it returns ErrClosed.
func (h *Hub) Join(stream string, resume bool, after uint64, first func() any) (*Subscription, error) {
	if h.isClosing() {
		return nil, ErrClosed
	}
	st := h.stream(stream)
	s := &Subscription{hub: h, stream: st, name: stream, wake: make(chan struct{}, 1)}
	if !resume || !st.joinBehind(s, after) {
		value := first() // with no lock held: it may ask for Last
		st.joinAtHead(s, value)
	}
	h.count.subscriptions.Add(1)
	return s, nil
}

// Close ends every connection with 1001 and every watcher with ErrClosed. What was appended before
// is still sent, within a second; connections that cannot take it by then are cut. It returns when
// all Serve calls are done, and may be called more than once.
func (h *Hub) Close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	streams := slices.Collect(maps.Values(h.streams))
	h.mu.Unlock()
	for _, st := range streams {
		st.look() // nobody waits for closing on behalf of the connections that rest
	}

	cut := time.AfterFunc(closeTimeout, h.cut)
	h.done.Wait()
	cut.Stop()
}

// isClosing reports whether Close has been called.
func (h *Hub) isClosing() bool {
	select {
	case <-h.closing:
		return true
	default:
		return false
	}
}

// cut ends what a blocked write still holds, by closing the sockets.
func (h *Hub) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.serving {
		_ = c.conn.NetConn().Close() // its Serve reports the error that follows
	}
}

// stream returns the named stream, a new one if there is none.
func (h *Hub) stream(name string) *stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	st := h.streams[name]
	if st == nil {
		st = &stream{hub: h, size: uint64(h.options.History)}
		h.streams[name] = st
	}
	return st
}
