package branch

import (
	"errors"
	"fmt"
	"reflect"

	"callerd/internal/queue"
)

// errDisagrees is a fault of the program, not of the disk: the process must not go on.
var errDisagrees = errors.New("verify: the records break an invariant")

// shadow is a second state that the commit goroutine keeps when verifying: made by the same Apply from the records that
// went to the disk, checked as a whole every now and then, and compared with the live state at the end.
type shadow struct {
	state *State
	count int
}

// wholeEvery is how many records pass between two checks of the whole state.
const wholeEvery = 1000

func newShadow() *shadow { return &shadow{state: NewState()} }

func (s *shadow) apply(r *queue.Record) error {
	if err := s.state.Apply(r); err != nil {
		return fmt.Errorf("%w: %w", errDisagrees, err)
	}
	if s.count++; s.count%wholeEvery == 0 {
		return s.check()
	}
	return nil
}

func (s *shadow) applyAll(records []*queue.Record) error {
	for _, r := range records {
		if err := s.apply(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *shadow) check() error {
	if err := s.state.Check(); err != nil {
		return fmt.Errorf("%w: after record count %d: %w", errDisagrees, s.count, err)
	}
	return nil
}

// compare tells whether the live state is what its records make. The caller holds all locks of the live state, and the
// commit goroutine has ended.
func (s *shadow) compare(live *State) error {
	if err := s.check(); err != nil {
		return err
	}
	if a, b := live.Dump(), s.state.Dump(); !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%w: the live state is not what the records make of it:\nlive %+v\nmade %+v", errDisagrees, a, b)
	}
	return nil
}

// impossible ends the process: a record was claimed that the state cannot take, so the state is wrong, and all that would
// be said from here on may be.
func impossible(err error) { panic(fmt.Sprintf("branch: a claimed record is impossible: %v", err)) }
