package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"callerd/internal/queue"
	journalv1 "callerd/proto/journal/v1"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A stored value is the CRC-32C of a message, 4 bytes big-endian, and the message.
const crcSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal fills in the CRC of a value whose first four bytes are still empty.
func seal(value []byte) []byte {
	binary.BigEndian.PutUint32(value, crc32.Checksum(value[crcSize:], castagnoli))
	return value
}

// unseal returns the message in a value, if it is what was sealed.
func unseal(value []byte) ([]byte, error) {
	if len(value) < crcSize {
		return nil, damaged("a value of %d bytes", len(value))
	}
	if got, want := crc32.Checksum(value[crcSize:], castagnoli), binary.BigEndian.Uint32(value); got != want {
		return nil, damaged("CRC-32C is %08x, stored is %08x", got, want)
	}
	return value[crcSize:], nil
}

// encoder makes the values of a transaction in memory that it uses again for the next one.
type encoder struct {
	values [][]byte
	record journalv1.Record
}

// batch makes the i-th value of a transaction. Its records have sequences without gap.
func (e *encoder) batch(i int, batch []*queue.Record) ([]byte, error) {
	if i == len(e.values) {
		e.values = append(e.values, nil)
	}
	b := append(e.values[i][:0], make([]byte, crcSize)...)
	b = protowire.AppendTag(b, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, batch[0].Sequence)
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(len(batch)))
	options := proto.MarshalOptions{UseCachedSize: true, Deterministic: true}
	for _, r := range batch {
		if err := storeRecord(&e.record, r); err != nil {
			return nil, fmt.Errorf("record %d: %w", r.Sequence, err)
		}
		b = protowire.AppendTag(b, 3, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(proto.Size(&e.record)))
		var err error
		if b, err = options.MarshalAppend(b, &e.record); err != nil {
			return nil, fmt.Errorf("record %d: %w", r.Sequence, err)
		}
	}
	e.values[i] = b
	return seal(b), nil
}

// countOf returns how many records a value says it has.
func countOf(value []byte) (uint64, error) {
	message, err := unseal(value)
	if err != nil {
		return 0, err
	}
	var head journalv1.Batch // up to the records
	_, _, n := protowire.ConsumeField(message)
	if n < 0 {
		return 0, damaged("%v", protowire.ParseError(n))
	}
	_, _, m := protowire.ConsumeField(message[n:])
	if m < 0 {
		return 0, damaged("%v", protowire.ParseError(m))
	}
	if err := proto.Unmarshal(message[:n+m], &head); err != nil || head.Count == 0 {
		return 0, damaged("it says that it has no records")
	}
	return uint64(head.Count), nil
}

// DecodeBatch returns the records of a stored value, whose key said that first is the sequence of its
// first record. Anything but what was written is [ErrDamaged].
func DecodeBatch(first uint64, value []byte) ([]*queue.Record, error) {
	message, err := unseal(value)
	if err != nil {
		return nil, err
	}
	var batch journalv1.Batch
	if err := proto.Unmarshal(message, &batch); err != nil {
		return nil, damaged("%v", err)
	}
	switch n := len(batch.Records); {
	case batch.First != first:
		return nil, damaged("it begins with record %d", batch.First)
	case uint64(batch.Count) != uint64(n) || n == 0:
		return nil, damaged("it has %d records and says %d", n, batch.Count)
	case first == 0 || first+uint64(n) < first:
		return nil, damaged("no record has the sequence 0")
	}
	records := make([]*queue.Record, len(batch.Records))
	for i, m := range batch.Records {
		if records[i], err = loadRecord(m); err != nil {
			return nil, damaged("record %d: %v", first+uint64(i), err)
		}
		records[i].Sequence = first + uint64(i)
	}
	return records, nil
}
