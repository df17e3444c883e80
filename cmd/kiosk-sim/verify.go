package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
	"callerd/cmd/kiosk-sim/internal/judge"
	"callerd/cmd/kiosk-sim/internal/report"
	"callerd/cmd/kiosk-sim/internal/sim"
)

type verifyCmd struct {
	Files       []string `arg:"" name:"file" help:"Histories of one hall, oldest first."`
	TicketsFrom string   `placeholder:"ADDR" help:"Ask the daemon at this gRPC address for its tickets and counters, and judge them too."`
	Speed       float64  `default:"1" help:"The speed of the runs, for the waits in hall time."`
	JSON        string   `name:"json" placeholder:"FILE" help:"Write the result as JSON."`
}

func (c *verifyCmd) run(ctx context.Context, stdout io.Writer) error {
	h, err := history.Read(c.Files...)
	if err != nil {
		return err
	}
	if len(h.Runs) == 0 {
		return fmt.Errorf("%w: no run in %v", history.ErrNotHistory, c.Files)
	}
	if c.TicketsFrom != "" {
		rec := history.NewRecorder(nil, 0, "", nil)
		cfg := sim.Config{Timeout: 5 * time.Second, GiveUp: 10 * time.Second, Speed: 1, Full: true}
		if err := sim.New(cfg, dialer(c.TicketsFrom), rec).Read(ctx); err != nil {
			return fmt.Errorf("%w: is callerd running at %s?", err, c.TicketsFrom)
		}
		now, err := rec.History()
		if err != nil {
			return err
		}
		h.Join(now)
	}
	s := report.Summarise(h, c.Speed)
	s.Verdicts = judge.Judge(h)
	s.Holds = judge.Holds(s.Verdicts)
	s.Print(stdout)
	if err := writeJSON(&s, c.JSON); err != nil {
		return err
	}
	if !s.Holds {
		return errBroken
	}
	return nil
}

func writeJSON(s *report.Summary, path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if err := s.WriteJSON(f); err != nil {
		f.Close()
		return fmt.Errorf("write result: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
