package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"callerd/internal/branch"
	"callerd/internal/journal"
	"callerd/internal/queue"
)

// clockCmd is about a clock that was wrong, or is.
type clockCmd struct {
	Accept clockAcceptCmd `cmd:"" help:"Go on from the machine's clock although it is far behind the newest record. The daemon must be stopped."`
}

// clockAcceptCmd writes that the machine's clock is right, and opens a business day under it.
type clockAcceptCmd struct {
	Data   string `default:"./callerd-data" help:"Folder of the journal."`
	Config string `help:"File (YAML) with the branch."`
}

// behindBy is how far the clock must be behind for a start to be refused; a smaller step mends itself.
const behindBy = time.Hour

// Run accepts the clock.
func (c *clockAcceptCmd) Run(ctx context.Context, s *streams) (err error) {
	conf, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	newest, zone, err := newestRecord(c.Data)
	if err != nil {
		return err
	}
	if conf.zone != zone {
		return fmt.Errorf("%w: the branch of this journal is in %s, the configuration says %s: name the daemon's own file with --config", errUsage, zone, conf.zone)
	}
	if now := time.Now(); newest.Sub(now) <= behindBy {
		return fmt.Errorf("the clock says %s, the newest record is of %s: it is not behind, and there is nothing to accept", now.Format(time.RFC3339), newest.Format(time.RFC3339))
	}
	logger, endLog := s.logger()
	defer endLog()
	j, err := journal.Open(c.Data, journal.Options{Logger: logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	from, to, err := branch.AcceptClock(ctx, branch.Options{Journal: j, Secret: j.Meta().Secret, Config: conf.branch(), Logger: logger, Version: version()})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "accepted: time goes on from %s, no more from %s (%v later)\n", to.Format(time.RFC3339), from.Format(time.RFC3339), from.Sub(to).Round(time.Second))
	fmt.Fprintln(s.out, "a business day has been opened; what was due is due as much earlier")
	return nil
}

// newestRecord returns the time of the newest record of a journal that exists, and the branch's time zone.
func newestRecord(dir string) (newest time.Time, zone string, err error) {
	r, err := journal.OpenReader(dir)
	if err != nil {
		return time.Time{}, "", err
	}
	err = r.Replay(func(v *queue.Record) error {
		newest = time.Unix(0, v.At)
		for _, o := range v.Outcomes {
			if d, ok := o.(*queue.DayOpened); ok {
				zone = d.Zone
			}
		}
		return nil
	})
	return newest, zone, errors.Join(err, r.Close())
}
