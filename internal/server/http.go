package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"callerd/internal/queue"
)

// newHTTP makes the web port: HTTP/1.1 only, with limits on how long a peer may dawdle.
func (s *Server) newHTTP() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ws/display", s.serveDisplay)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.branch.Admitting(); err != nil {
			http.Error(w, "no commands are admitted; the log says why", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /", s.opts.Page)
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler: mux, Protocols: &protocols, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 60 * time.Second,
		ErrorLog: slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelWarn),
	}
}

// upgrader has no compression, which would defeat the read limit, and small buffers: a display sends nothing, and the hub writes its frames
// past them.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	ReadBufferSize:   256, WriteBufferSize: 1 << 10, WriteBufferPool: &sync.Pool{},
	CheckOrigin: sameOrigin,
}

// sameOrigin lets a page of this very host and port in, and peers that are no browser and send no Origin.
func sameOrigin(r *http.Request) bool {
	origin := r.Header["Origin"]
	return len(origin) == 0 || len(origin) == 1 && origin[0] == "http://"+r.Host
}

// serveDisplay is GET /ws/display; docs/display-protocol.md says what it speaks.
func (s *Server) serveDisplay(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var counter uint64
	switch view := q.Get("view"); view {
	case "hall", "":
	case "counter":
		n, err := strconv.ParseUint(q.Get("counter"), 10, 32)
		if err != nil || n == 0 || n > uint64(queue.MaxCounterID) {
			http.Error(w, fmt.Sprintf("counter: %q is not a counter's number; want for example view=counter&counter=3", q.Get("counter")), http.StatusBadRequest)
			return
		}
		counter = n
	default:
		http.Error(w, fmt.Sprintf("view: %q is neither hall nor counter", view), http.StatusBadRequest)
		return
	}
	var after uint64
	if a := q.Get("after"); a != "" {
		n, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			http.Error(w, fmt.Sprintf("after: %q is not a sequence", a), http.StatusBadRequest)
			return
		}
		after = n
	}
	s.upgrade(w, r, queue.CounterID(counter), q.Get("epoch"), after)
}

func (s *Server) upgrade(w http.ResponseWriter, r *http.Request, counter queue.CounterID, epoch string, after uint64) {
	if s.hub.Stats().Connections >= int64(s.opts.MaxDisplays) {
		http.Error(w, "as many displays are connected as the server takes; come back", http.StatusServiceUnavailable)
		return
	}
	sub, known, err := s.board.join(counter, epoch, after)
	switch {
	case err != nil:
		http.Error(w, "the server is stopping; come back", http.StatusServiceUnavailable)
		return
	case !known:
		http.Error(w, fmt.Sprintf("counter: there is no counter %d", counter), http.StatusNotFound)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil { // the upgrader has answered
		sub.Close()
		s.opts.Logger.Info("display refused", "remote", r.RemoteAddr, "origin", shorten(r.Header.Get("Origin")), "error", err)
		return
	}
	remote := r.RemoteAddr
	s.opts.Logger.Info("display connected", "remote", remote, "counter", uint32(counter))
	go func() { // so that the request, its buffers and its stack go now, and not at the end of the day
		err := s.hub.Serve(conn, sub)
		s.opts.Logger.Info("display gone", "remote", remote, "why", err)
	}()
}
