package branch

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"callerd/internal/queue"
)

// Token is a session's token: counter, epoch and the request that opened it, sealed with the branch's secret,
// so that a retried OpenCounter gets the same one and nobody can make one up.
type token struct {
	counter queue.CounterID
	epoch   uint64
	request queue.RequestID
}

const macSize = 16

func (b *Branch) mac(t token) []byte {
	h := hmac.New(sha256.New, b.opts.Secret)
	var m [28]byte
	binary.BigEndian.PutUint32(m[:], uint32(t.counter))
	binary.BigEndian.PutUint64(m[4:], t.epoch)
	copy(m[12:], t.request[:])
	h.Write(m[:])
	return h.Sum(nil)[:macSize]
}

// seal writes a token: "3.17.<request>.<mac>".
func (b *Branch) seal(t token) string {
	return fmt.Sprintf("%d.%d.%x.%x", t.counter, t.epoch, t.request, b.mac(t))
}

// unsealed is a token that was found good. A console sends the same one all day, and its seal is the dearest part of a call.
type unsealed struct {
	text  string
	token token
}

// unseal reads a token; the zero token if it is not one of this branch.
func (b *Branch) unseal(s string) token {
	id, _, _ := strings.Cut(s, ".")
	c, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return token{}
	}
	if known, ok := b.unsealed.Load(queue.CounterID(c)); ok {
		if u := known.(*unsealed); sameText(u.text, s) {
			return u.token
		}
	}
	t := b.check(s)
	if b.state.sets.Load().byCounter[t.counter] != nil { // so there are no more of them than counters
		b.unsealed.Store(t.counter, &unsealed{s, t})
	}
	return t
}

// sameText compares in a time that does not tell where the texts differ, as crypto/subtle does with bytes.
func sameText(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	var differ byte
	for i := range len(a) {
		differ |= a[i] ^ b[i]
	}
	return differ == 0
}

// check reads a token and looks at its seal; the zero token if it is not one of this branch.
func (b *Branch) check(s string) token {
	parts := strings.Split(s, ".")
	if len(parts) != 4 || len(parts[2]) != 32 || len(parts[3]) != 2*macSize {
		return token{}
	}
	c, err1 := strconv.ParseUint(parts[0], 10, 32)
	e, err2 := strconv.ParseUint(parts[1], 10, 64)
	r, err3 := hex.DecodeString(parts[2])
	m, err4 := hex.DecodeString(parts[3])
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return token{}
	}
	t := token{counter: queue.CounterID(c), epoch: e, request: queue.RequestID(r)}
	if !hmac.Equal(m, b.mac(t)) || b.seal(t) != s { // the same in another spelling is not what was sealed
		return token{}
	}
	return t
}
