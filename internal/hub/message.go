package hub

import (
	"encoding/binary"
	"sync"

	"github.com/gorilla/websocket"
)

// Message is one frame of one stream. It is shared by all who receive it, and must not be changed
// or copied.
//
// Previous is the sequence of the stream's frame before. A snapshot has Previous zero; a heartbeat
// has Previous equal to Sequence.
type Message struct {
	Sequence, Previous uint64
	Value              any

	heartbeat bool

	once  sync.Once
	bytes []byte
}

// Heartbeat reports whether the message only says that there is nothing to say.
func (m *Message) Heartbeat() bool { return m.heartbeat }

// prepare returns the frame as it goes over the wire, encoding it if nobody has needed it before.
// The bytes are shared.
func (m *Message) prepare(encode func(any) []byte) []byte {
	m.once.Do(func() {
		m.bytes = frame(websocket.TextMessage, encode(m.Value))
	})
	return m.bytes
}

// frame is a whole WebSocket frame as a server sends it: in one piece, and not masked.
func frame(kind byte, payload []byte) []byte {
	const (
		final  = 0x80
		two    = 126 // the length follows in two bytes
		eight  = 127 // or in eight
		header = 10  // at most
	)
	b := append(make([]byte, 0, header+len(payload)), final|kind)
	switch n := len(payload); {
	case n < two:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, two), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, eight), uint64(n))
	}
	return append(b, payload...)
}
