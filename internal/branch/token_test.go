package branch

import (
	"strings"
	"testing"

	"callerd/internal/queue"
)

func TestATokenThatIsNotThisSessionsIsStale(t *testing.T) {
	h := open(t)
	old := h.counter(1)
	ok(h.CloseCounter(t.Context(), h.request(), old, 0))(t)
	good := h.counter(1)
	third := h.counter(2)
	other := open(t, func(o *Options) { o.Secret = []byte("the secret of another branch") })
	foreign := other.counter(1)
	last := good[len(good)-1]
	parts := strings.Split(good, ".")
	tests := []struct{ name, token string }{
		{"no token", ""},
		{"a word", "token"},
		{"dots alone", "..."},
		{"a session that has ended", old},
		{"a session of another branch's secret", foreign},
		{"cut short by one", good[:len(good)-1]},
		{"cut to half", good[:len(good)/2]},
		{"one digit changed", good[:len(good)-1] + string(rune(last^1))},
		{"one digit too many", good + "0"},
		{"another spelling", strings.ToUpper(good)},
		{"another spelling of the counter", "0" + good},
		{"a part too many", good + ".0"},
		{"another counter's number", strings.Join([]string{"2", parts[1], parts[2], parts[3]}, ".")},
		{"the next epoch", strings.Join([]string{parts[0], "9", parts[2], parts[3]}, ".")},
		{"another counter's seal", strings.Join([]string{parts[0], parts[1], parts[2], strings.Split(third, ".")[3]}, ".")},
		{"another counter's request", strings.Join([]string{parts[0], parts[1], strings.Split(third, ".")[2], parts[3]}, ".")},
		{"a negative counter", strings.Join([]string{"-1", parts[1], parts[2], parts[3]}, ".")},
		{"a counter that overflows", strings.Join([]string{"4294967297", parts[1], parts[2], parts[3]}, ".")},
		{"no hexadecimal", strings.Join([]string{parts[0], parts[1], parts[2], strings.Repeat("z", 32)}, ".")},
		{"a sealed token of no counter", h.seal(token{})},
		{"a sealed token of an epoch to come", h.seal(token{1, 3, h.unseal(good).request})},
		{"a sealed token of another request", h.seal(token{1, 2, queue.RequestID{9}})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ok(h.RenewSession(t.Context(), good))(t) // so that the good one is the one that was read last
			_, err := h.RenewSession(t.Context(), test.token)
			refused(t, err, ErrStaleSession)
			_, err = h.CallNext(t.Context(), h.request(), test.token, queue.TicketID{})
			refused(t, err, ErrStaleSession)
		})
	}
	ok(h.RenewSession(t.Context(), good))(t)
}

func TestARetriedOpenGetsTheSameToken(t *testing.T) {
	h := open(t)
	r := OpenRequest{Request: h.request(), Counter: 1, Teller: "t"}
	first := ok(h.OpenCounter(t.Context(), r))(t)
	for range 2 {
		again := ok(h.OpenCounter(t.Context(), r))(t)
		if again.Token != first.Token || !again.Replayed || again.Closed {
			t.Errorf("got %+v, want %+v replayed", again, first)
		}
		h.restart()
	}
	ok(h.RenewSession(t.Context(), first.Token))(t)
	r.Teller = "u"
	_, err := h.OpenCounter(t.Context(), r)
	refused(t, err, ErrRequestReused)
}

func FuzzUnseal(f *testing.F) {
	b := &Branch{opts: Options{Secret: make([]byte, 32)}}
	f.Add(uint32(3), uint64(17), []byte("0123456789abcdef"), "....")
	f.Add(uint32(0), uint64(0), make([]byte, 16), "1.1."+strings.Repeat("0", 32)+"."+strings.Repeat("0", 32))
	f.Fuzz(func(t *testing.T, counter uint32, epoch uint64, request []byte, made string) {
		var id queue.RequestID
		copy(id[:], request)
		want := token{queue.CounterID(counter), epoch, id}
		sealed := b.seal(want)
		if got := b.check(sealed); got != want {
			t.Errorf("%q: got %+v, want %+v", sealed, got, want)
		}
		if got := b.check(made); got != (token{}) {
			t.Errorf("%q, which was made up, is read as %+v", made, got)
		}
	})
}
