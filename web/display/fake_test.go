package display

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callerd/internal/hub"
)

// object is JSON in the making.
type object = map[string]any

// fake speaks the display protocol and can speak it wrongly: it is for what a sound server never
// does, or only after years.
type fake struct {
	t       *testing.T
	address string

	mu       sync.Mutex
	listener net.Listener
	server   *http.Server
	hub      *hub.Hub
	refuse   bool   // answers displays with 503
	silent   bool   // sends no heartbeats
	etag     string // of another page than it serves
	conns    []*websocket.Conn
	epoch    string
	sequence uint64
	resumed  []string // the "after" of each display that came
	came     sync.Cond
	branch   object
	lines    []object
	counters []object
	calls    []object // newest first
	notice   object
}

func openFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, address: "127.0.0.1:0", epoch: "first", sequence: 1000,
		branch:   object{"zh-CN": "城东支行", "en": "Chengdong Branch"},
		notice:   object{"zh-CN": "", "en": ""},
		calls:    []object{},
		lines:    []object{line("personal", "个人业务", "Personal", 3), line("corporate", "对公业务", "Corporate", 1)},
		counters: []object{}}
	for n := 1; n <= 4; n++ {
		f.counters = append(f.counters, object{"counter": n, "state": "open"})
	}
	f.came.L = &f.mu
	f.start()
	t.Cleanup(f.stop)
	return f
}

// awaitDisplays waits until so many have come, each as often as it came.
func (f *fake) awaitDisplays(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.resumed) < n {
		f.came.Wait()
	}
}

var (
	zhDigits = strings.Split("零一二三四五六七八九", "")
	enDigits = strings.Split("zero one two three four five six seven eight nine", " ")
)

// spell makes the tokens of a call: the words around the number and the counter, digit by digit.
func spell(number string, counter int, digits []string, words ...string) []string {
	say := func(s string) (tokens []string) {
		for _, c := range s {
			if c >= '0' && c <= '9' {
				tokens = append(tokens, digits[c-'0'])
			} else {
				tokens = append(tokens, string(c))
			}
		}
		return tokens
	}
	tokens := append([]string{words[0]}, say(number)...)
	tokens = append(append(tokens, words[1]), say(strconv.Itoa(counter))...)
	return append(tokens, words[2:]...)
}

func line(category, zh, en string, waiting int) object {
	return object{"category": category, "prefix": "A", "name": object{"zh-CN": zh, "en": en}, "open": true, "waiting": waiting, "issued": 9, "serving": 5}
}

func (f *fake) url(query string) string { return "http://" + f.address + "/" + query }

func (f *fake) start() {
	f.t.Helper()
	listener, err := net.Listen("tcp", f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	mux := http.NewServeMux()
	page := Handler()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		etag := f.etag
		f.mu.Unlock()
		if r.Method == http.MethodHead && etag != "" {
			w.Header().Set("ETag", etag)
			return
		}
		page.ServeHTTP(w, r)
	})
	mux.HandleFunc("/ws/display", f.display)
	server := &http.Server{Handler: mux}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.address = listener.Addr().String()
	f.listener, f.server = listener, server
	f.hub = hub.New(hub.Options{
		Encode: func(v any) []byte {
			b, err := json.Marshal(v)
			if err != nil {
				f.t.Error(err)
			}
			return b
		},
		HeartbeatEvery: map[bool]time.Duration{true: time.Hour}[f.silent],
		Heartbeat: func(_ string, sequence uint64) any {
			return object{"epoch": f.epoch, "sequence": sequence, "previous": sequence, "events": []object{{"type": "heartbeat", "time": stamp(0)}}}
		},
	})
	f.hub.Seed("hall", f.sequence)
	go func() { _ = server.Serve(listener) }() // ends with stop
}

func (f *fake) stop() {
	f.mu.Lock()
	listener, server, h := f.listener, f.server, f.hub
	f.mu.Unlock()
	_ = listener.Close() // twice, if it is being served already
	h.Close()
	_ = server.Close()
}

func (f *fake) display(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{}
	f.mu.Lock()
	if f.refuse {
		f.mu.Unlock()
		http.Error(w, "the store cannot be read", http.StatusServiceUnavailable)
		return
	}
	if n, err := strconv.Atoi(r.FormValue("counter")); err == nil && n > len(f.counters) {
		f.mu.Unlock()
		http.Error(w, "counter: there is no such counter", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodHead {
		f.resumed = append(f.resumed, r.FormValue("after"))
		f.came.Broadcast()
	}
	after, _ := strconv.ParseUint(r.FormValue("after"), 10, 64)
	s, err := f.hub.Join("hall", r.FormValue("epoch") == f.epoch, after, func() any {
		return f.frame(f.sequence, 0, object{"type": "snapshot", "hall": f.hall(r.FormValue("counter"))})
	})
	h := f.hub
	f.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		s.Close()
		return
	}
	f.mu.Lock()
	f.conns = append(f.conns, conn)
	f.mu.Unlock()
	_ = h.Serve(conn, s)
}

func (f *fake) frame(sequence, previous uint64, events ...object) object {
	return object{"epoch": f.epoch, "sequence": sequence, "previous": previous, "events": events}
}

// hall is what a snapshot says. f.mu must be held.
func (f *fake) hall(counter string) object {
	counters := f.counters
	if n, err := strconv.Atoi(counter); err == nil {
		counters = counters[n-1 : n]
	}
	return object{"time": stamp(0), "branch": f.branch, "business_day": "2026-11-30", "categories": f.lines, "counters": append([]object{}, counters...),
		"calls": append([]object{}, f.calls...), "notice": f.notice}
}

// stamp is the time so long ago, in the branch's zone.
func stamp(ago time.Duration) string {
	return time.Now().Add(-ago).In(time.FixedZone("", 8*3600)).Format("2006-01-02T15:04:05.000Z07:00")
}

// send appends a frame with these events.
func (f *fake) send(events ...object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.append(0, events...)
}

// append does so with a sequence that leaves out so many. f.mu must be held.
func (f *fake) append(hole uint64, events ...object) {
	previous := f.sequence + hole
	f.sequence = previous + 1
	f.hub.Append("hall", f.sequence, f.frame(f.sequence, previous, events...))
}

// call calls a number, as a call of so long ago.
func (f *fake) call(kind, number string, counter int, ago time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := object{"type": kind, "ticket": "2026-11-30/personal/" + number, "number": number, "category": "personal", "counter": counter,
		"time": stamp(ago), "sequence": f.sequence + 1,
		"text": object{"zh-CN": fmt.Sprintf("请%s号到%d号窗口办理业务", number, counter), "en": fmt.Sprintf("Ticket %s, please go to counter %d", number, counter)},
		"spoken": object{"zh-CN": spell(number, counter, zhDigits, "请", "号到", "号窗口办理业务"),
			"en": spell(number, counter, enDigits, "Ticket", "please go to counter")}}
	f.calls = append([]object{c}, f.calls...)
	f.calls = f.calls[:min(6, len(f.calls))]
	f.append(0, c)
}

func (f *fake) setCounter(counter int, state, number, ticketState string) {
	c := object{"type": "counter", "counter": counter, "state": state}
	if number != "" {
		c["number"], c["ticket"], c["ticket_state"] = number, "2026-11-30/personal/"+number, ticketState
	}
	f.mu.Lock()
	f.counters[counter-1] = c
	f.mu.Unlock()
	f.send(c)
}

func (f *fake) setNotice(zh, en string) {
	f.mu.Lock()
	f.notice = object{"zh-CN": zh, "en": en}
	f.mu.Unlock()
	f.send(object{"type": "notice", "text": f.notice})
}
