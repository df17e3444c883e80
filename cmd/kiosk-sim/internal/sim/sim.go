package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"

	"callerd/cmd/kiosk-sim/internal/history"
)

// ErrNotShown is returned when a display got no first frame in time.
var ErrNotShown = errors.New("no first frame")

// Sim plays one hall. The zero value does not work; use New.
type Sim struct {
	cfg      Config
	dial     func() (*grpc.ClientConn, error)
	conns    []*grpc.ClientConn
	rec      *history.Recorder
	hall     *hall
	displays []*display
}

// New makes a hall; every machine has a connection of its own from dial.
func New(cfg Config, dial func() (*grpc.ClientConn, error), rec *history.Recorder) *Sim {
	s := &Sim{
		cfg: cfg, dial: dial, rec: rec,
		hall: &hall{bell: make(chan struct{}, max(cfg.Counters, 1)), done: make(chan struct{})},
	}
	for i := range cfg.Displays {
		counter := uint32(0)
		if i%3 == 2 && cfg.Counters > 0 {
			counter = uint32(i/3%cfg.Counters) + 1
		}
		s.displays = append(s.displays, newDisplay(fmt.Sprintf("display-%d", i+1), counter, cfg.HTTPAddr, rec))
	}
	return s
}

// Progress may be asked at any time.
func (s *Sim) Progress() Progress {
	p := Progress{Issued: s.hall.issued.Load(), Called: s.hall.called.Load(), Served: s.hall.served.Load()}
	for _, d := range s.displays {
		p.Reconnects += int64(d.reconnects.Load())
	}
	return p
}

// Run plays the hall from opening to the last customer. What happened is in the recorder, also
// after an error.
func (s *Sim) Run(ctx context.Context) error {
	defer func() {
		for _, c := range s.conns {
			c.Close()
		}
	}()
	clerk, err := s.actor("clerk")
	if err != nil {
		return err
	}
	if !s.cfg.Survive {
		soon := s.cfg
		soon.GiveUp = min(soon.GiveUp, 3*time.Second)
		clerk.cfg = &soon
	}
	base, err := clerk.readHall(ctx)
	if err != nil {
		return err
	}
	if len(s.cfg.Weights) == 0 {
		for _, c := range base.Categories {
			if !c.Closed {
				s.cfg.Weights = append(s.cfg.Weights, Weight{c.ID, 1})
			}
		}
	}
	if len(s.cfg.Weights) == 0 {
		return errors.New("the server offers no category")
	}
	shown := newGroup(ctx)
	defer shown.stop()
	for _, d := range s.displays {
		shown.start(d.run)
	}
	if err := s.shown(shown.ctx); err != nil {
		if bad := shown.stop(); bad != nil {
			return bad
		}
		return err
	}
	err = s.serve(shown.ctx)
	if ctx.Err() == nil && err == nil {
		s.drain(shown.ctx)
		_, err = clerk.readHall(ctx)
	}
	if bad := shown.stop(); bad != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return bad
	}
	return err
}

// actor makes a machine with its own connection.
func (s *Sim) actor(name string) (actor, error) {
	conn, err := s.dial()
	if err != nil {
		return actor{}, fmt.Errorf("connect %s: %w", name, err)
	}
	s.conns = append(s.conns, conn)
	return newActor(name, &s.cfg, newClient(conn, s.rec, s.cfg.Timeout)), nil
}

// shown waits until every display has its first frame.
func (s *Sim) shown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, d := range s.displays {
		select {
		case <-d.ready:
		case <-ctx.Done():
			return fmt.Errorf("%w: %s at http://%s", ErrNotShown, d.name, d.addr)
		}
	}
	return nil
}

// serve runs kiosks and consoles, all from one start.
func (s *Sim) serve(ctx context.Context) error {
	consoles := newGroup(ctx)
	defer consoles.stop()
	for i := range s.cfg.Counters {
		a, err := s.actor(fmt.Sprintf("console-%d", i+1))
		if err != nil {
			return err
		}
		k := &console{actor: a, number: uint32(i + 1), hall: s.hall}
		consoles.start(k.run)
	}
	kiosks := newGroup(consoles.ctx)
	defer kiosks.stop()
	for i := range s.cfg.Kiosks {
		a, err := s.actor(fmt.Sprintf("kiosk-%d", i+1))
		if err != nil {
			return err
		}
		k := &kiosk{actor: a, hall: s.hall}
		k.customers = share(s.cfg.Customers, s.cfg.Kiosks, i)
		if s.cfg.Customers > 0 && k.customers == 0 {
			continue
		}
		kiosks.start(k.run)
	}
	err := kiosks.wait()
	close(s.hall.done)
	if err != nil {
		if bad := consoles.stop(); bad != nil {
			return bad
		}
		return err
	}
	return consoles.wait()
}

// drain lets every display come to the end of what was called.
func (s *Sim) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	hall, counters := s.rec.LastCalls()
	var wg sync.WaitGroup
	for _, d := range s.displays {
		want := hall
		if d.counter != 0 {
			want = counters[d.counter]
		}
		wg.Go(func() { d.reach(ctx, want) })
	}
	wg.Wait()
}

// Read only records what the server has now.
func (s *Sim) Read(ctx context.Context) error {
	clerk, err := s.actor("clerk")
	if err != nil {
		return err
	}
	defer s.conns[0].Close()
	_, err = clerk.readHall(ctx)
	return err
}
