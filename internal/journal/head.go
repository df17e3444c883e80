package journal

import (
	"encoding/binary"
	"fmt"

	journalv1 "callerd/proto/journal/v1"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"
)

// Format is the newest format that this program reads, and the one that it writes.
const Format = 1

// Meta is what a journal says about itself.
type Meta struct {
	Format   uint32
	BranchID string // random hex, made with the file
	Epoch    string // random hex, made with the file: another one means another history
	Secret   []byte // 32 random bytes for session tokens
}

var (
	metaBucket  = []byte("meta")
	identityKey = []byte("identity")
	headKey     = []byte("head")
)

// head says where the journal begins and ends. It lies beside the identity in the root of the file, so
// that it costs no page of its own and cannot go astray with a day, and names its transaction, so that a
// root whose newest write was lost cannot pass for the newest.
type head struct{ oldest, newest, last, transaction uint64 }

func putHead(tx *bbolt.Tx, h head) error {
	return putSealed(tx.Bucket(metaBucket), headKey, &journalv1.Head{
		Oldest:      h.oldest,
		Newest:      h.newest,
		Last:        h.last,
		Transaction: uint64(tx.ID()),
	})
}

func loadHead(value []byte) (head, error) {
	var m journalv1.Head
	if err := loadSealed(value, &m); err != nil {
		return head{}, damaged("its head: %v", err)
	}
	h := head{oldest: m.Oldest, newest: m.Newest, last: m.Last, transaction: m.Transaction}
	empty := h.last == 0 && h.newest == 0 && h.oldest == 0
	if !empty && (h.oldest == 0 || h.oldest > h.newest || h.newest > h.last) {
		return head{}, damaged("its head: days %d to %d, last record %d", h.oldest, h.newest, h.last)
	}
	return h, nil
}

func loadMeta(value []byte) (Meta, error) {
	var m journalv1.Identity
	if err := loadSealed(value, &m); err != nil {
		return Meta{}, damaged("its identity: %v", err)
	}
	if m.Format > Format {
		return Meta{}, fmt.Errorf("%w: %d, and this program reads up to %d; run the newer program again", ErrNewerFormat, m.Format, Format)
	}
	if m.Format == 0 {
		return Meta{}, damaged("its format is 0")
	}
	return Meta{Format: m.Format, BranchID: m.BranchId, Epoch: m.Epoch, Secret: m.Secret}, nil
}

func putSealed(b *bbolt.Bucket, key []byte, m proto.Message) error {
	value, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, crcSize), m)
	if err != nil {
		return err
	}
	return b.Put(key, seal(value))
}

func loadSealed(value []byte, m proto.Message) error {
	message, err := unseal(value)
	if err != nil {
		return err
	}
	return proto.Unmarshal(message, m)
}

// A day bucket's name and a batch's key are sequences, 8 bytes big-endian.
func key(sequence uint64) []byte { return binary.BigEndian.AppendUint64(nil, sequence) }

func sequence(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, damaged("%x is no sequence", key)
	}
	return binary.BigEndian.Uint64(key), nil
}
