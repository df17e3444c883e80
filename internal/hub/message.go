package hub

import (
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
	frame *websocket.PreparedMessage
	err   error
}

// Heartbeat reports whether the message only says that there is nothing to say.
func (m *Message) Heartbeat() bool { return m.heartbeat }

// prepare returns the frame as it goes over the wire, encoding it if nobody has needed it before.
func (m *Message) prepare(encode func(any) []byte) (*websocket.PreparedMessage, error) {
	m.once.Do(func() {
		m.frame, m.err = websocket.NewPreparedMessage(websocket.TextMessage, encode(m.Value))
	})
	return m.frame, m.err
}
