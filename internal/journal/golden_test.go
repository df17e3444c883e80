package journal

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"callerd/internal/queue"
	journalv1 "callerd/proto/journal/v1"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

var writeGolden = flag.Bool("write-golden", false, "make the golden journal of the format that is written now")

// golden is the path of what belongs to a format: a journal, and the records in it as text. None is ever
// changed or removed: what a branch has on its disk must open for ever.
func golden(format int, ext string) string {
	return filepath.Join("testdata", fmt.Sprintf("format-%d%s", format, ext))
}

func TestGoldenJournalsOpenForEver(t *testing.T) {
	if *writeGolden {
		makeGolden(t)
	}
	for format := 1; format <= Format; format++ {
		t.Run(fmt.Sprint(format), func(t *testing.T) {
			dir := t.TempDir()
			copyFile(t, golden(format, ".db"), filepath.Join(dir, fileName))
			text, err := os.ReadFile(golden(format, ".txtpb"))
			if err != nil {
				t.Fatal(err)
			}
			var want journalv1.Batch
			if err := prototext.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			records := mustReadAll(t, dir)
			if got := batchOf(t, records); !proto.Equal(got, &want) {
				t.Errorf("got\n%s\nwant\n%s", prototext.Format(got), text)
			}
			j := mustOpen(t, dir)
			if m := j.Meta(); m.Format != uint32(format) || m.Epoch == "" || m.BranchID == "" || len(m.Secret) != 32 {
				t.Errorf("got meta %+v", m)
			}
			more := issues(uint64(len(records))+1, 3)
			mustAppend(t, j, more)
			j.Close()
			equal(t, mustReadAll(t, dir), append(records, more...))
		})
	}
}

// batchOf is all records as one stored message.
func batchOf(t *testing.T, records []*queue.Record) *journalv1.Batch {
	m := &journalv1.Batch{First: records[0].Sequence, Count: uint32(len(records))}
	for _, r := range records {
		s := &journalv1.Record{}
		if err := storeRecord(s, r); err != nil {
			t.Fatal(err)
		}
		m.Records = append(m.Records, s)
	}
	return m
}

// makeGolden writes the golden files: every field of every outcome, over two days and three batches.
func makeGolden(t *testing.T) {
	n := int64(0)
	next := func() int64 { n++; return n }
	records := []*queue.Record{dayOpened(1, 1)}
	for _, kind := range kinds {
		r := &queue.Record{
			Sequence:    uint64(len(records)) + 1,
			At:          testTime.UnixNano() + next(),
			Fingerprint: uint64(next()) << 32,
			Request:     queue.RequestID{0: byte(next()), 15: 1},
			Actor:       queue.Actor{Kind: queue.Staff, Name: "王经理"},
		}
		zero := reflect.New(reflect.TypeOf(kind).Elem()).Interface().(queue.Outcome)
		r.Outcomes = []queue.Outcome{filled(t, kind, next), zero}
		records = append(records, r)
	}
	j := mustOpen(t, t.TempDir())
	appendAll(t, j, records, 3)
	file, err := os.OpenFile(golden(Format, ".db"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	err = j.db.View(func(tx *bbolt.Tx) error {
		_, err := io.Copy(file, io.NewSectionReader(j.file, 0, tx.Size()))
		return err
	})
	text := prototext.Format(batchOf(t, records))
	if err := errors.Join(err, file.Close(), os.WriteFile(golden(Format, ".txtpb"), []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
