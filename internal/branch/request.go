package branch

import (
	"crypto/sha256"
	"encoding/binary"

	"callerd/internal/queue"
)

// Request is who asks and by which id he may ask again.
type Request struct {
	ID    queue.RequestID // required
	Actor queue.Actor
}

// fingerprint tells a retry from a reuse of a request id: a hash of what is asked, never of a token. It is
// stored, so its making may not change: SHA-256 over the parts, each behind its length, cut to 8 bytes.
func fingerprint(method string, counter queue.CounterID, parts ...string) uint64 {
	b := make([]byte, 0, 256)
	b = binary.LittleEndian.AppendUint32(b, uint32(counter))
	b = appendPart(b, method)
	for _, p := range parts {
		b = appendPart(b, p)
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

func appendPart(b []byte, p string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
	return append(b, p...)
}
