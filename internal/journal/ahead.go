package journal

import (
	"callerd/internal/queue"
)

// readAhead is how many batches are decoded before f asks for them.
const readAhead = 8

// recordsAhead is records, with the reading on a goroutine of its own: while f is at work on one batch, the next are decoded. It returns
// when both have ended.
func (c *content) recordsAhead(i int, f func(*queue.Record) error) error {
	decoded := make(chan []*queue.Record, readAhead) // its size is what both may differ in pace
	enough := make(chan struct{})                    // closed: f has failed
	read := make(chan error, 1)
	go func() {
		defer close(decoded)
		read <- c.batches(i, 0, func(_, first uint64, value []byte) (uint64, error) {
			records, err := DecodeBatch(first, value)
			if err != nil {
				return 0, err
			}
			select {
			case decoded <- records:
				return first + uint64(len(records)), nil
			case <-enough:
				return 0, errEnough
			}
		})
	}()
	for records := range decoded {
		for _, r := range records {
			if err := f(r); err != nil {
				close(enough)
				<-read // it reads from the image, which the caller closes
				return recordError(r, err)
			}
		}
	}
	return <-read
}
