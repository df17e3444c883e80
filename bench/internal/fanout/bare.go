package fanout

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

const bareMark = "bare loop on"

// bare is the plainest broadcast there is: one loop that writes a prepared message to one connection after the other.
type bare struct {
	upgrader websocket.Upgrader

	mu    sync.Mutex // guards the rest, also while a message goes out
	conns []*websocket.Conn
	last  uint64
}

// ServeBare serves the loop until ctx ends. It says on out where.
func ServeBare(ctx context.Context, out io.Writer) error {
	b := &bare{upgrader: websocket.Upgrader{ReadBufferSize: 256, WriteBufferSize: 1 << 10, WriteBufferPool: &sync.Pool{}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ws/display", b.join)
	mux.HandleFunc("POST /publish", b.publish)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: mux}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	fmt.Fprintln(out, bareMark, l.Addr())
	return s.Serve(l)
}

// join takes a display in and reads it to its end, for a connection that is not read does not end.
func (b *bare) join(w http.ResponseWriter, r *http.Request) {
	c, err := b.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	b.mu.Lock()
	b.conns = append(b.conns, c)
	err = c.WriteMessage(websocket.TextMessage, text(0, 100)) // as a snapshot is
	b.mu.Unlock()
	for err == nil {
		_, _, err = c.NextReader()
	}
}

// publish sends a message of so many bytes to all and answers with its number.
func (b *bare) publish(w http.ResponseWriter, r *http.Request) {
	size, err := strconv.Atoi(r.URL.Query().Get("size"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	m, err := websocket.NewPreparedMessage(websocket.TextMessage, text(b.last, size))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for _, c := range b.conns {
		_ = c.WritePreparedMessage(m) // who is gone is gone
	}
	fmt.Fprint(w, b.last)
}

// text is a frame of so many bytes with its sequence where a display's frame has it.
func text(sequence uint64, size int) []byte {
	head := fmt.Sprintf(`{"epoch":"bare",%s%d,"pad":"`, sequenceKey, sequence)
	return []byte(head + strings.Repeat("x", max(0, size-len(head)-2)) + `"}`)
}

const sequenceKey = `"sequence":`

// sequenceOf finds a frame's sequence without reading the rest of it: thousands of displays share two processors.
func sequenceOf(frame []byte) (n uint64) {
	at := bytes.Index(frame, []byte(sequenceKey))
	if at < 0 {
		return 0
	}
	for _, c := range frame[at+len(sequenceKey):] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}
