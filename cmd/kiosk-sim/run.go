package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
	"callerd/cmd/kiosk-sim/internal/judge"
	"callerd/cmd/kiosk-sim/internal/policy"
	"callerd/cmd/kiosk-sim/internal/report"
	"callerd/cmd/kiosk-sim/internal/sim"
)

type runCmd struct {
	GRPCAddr string `name:"grpc-addr" default:"127.0.0.1:7070" help:"The daemon's gRPC address."`
	HTTPAddr string `name:"http-addr" default:"127.0.0.1:8080" help:"The daemon's HTTP address, for the displays."`

	Kiosks     int           `default:"8" help:"Kiosks that hand out numbers."`
	Counters   int           `default:"4" help:"Counters that serve, numbered from 1; the daemon must have as many."`
	Displays   int           `default:"2" help:"Displays; every third is that of one counter, the others show the whole hall."`
	Customers  int           `xor:"end" help:"Customers in all."`
	Duration   time.Duration `xor:"end" help:"How long customers come, in hall time. Default: 1000 customers."`
	Categories []string      `placeholder:"ID=WEIGHT" help:"Categories and how often customers come for them. Default: all that are open, alike."`

	Seed      uint64  `help:"Seed of every choice; 0: a new one. Printed."`
	Speed     float64 `default:"1" help:"Hall seconds a second."`
	FullSpeed bool    `help:"No think times at all: every machine sends as soon as it has its answer."`
	Arrivals  float64 `default:"120" help:"Customers an hour in the whole hall, Poisson."`

	ServiceMean time.Duration `default:"90s" help:"Mean of the log-normal service time."`
	ServiceCV   float64       `name:"service-cv" default:"1" help:"Its coefficient of variation."`
	CallTime    time.Duration `default:"20s" help:"How long a teller waits for a called customer before calling again."`
	NoShowCalls int           `default:"3" help:"How often one who does not come is called; it costs the counter that time."`

	NoShow float64 `default:"0.03" help:"Share of customers who have left unseen and are found out only when called."`
	Hold   float64 `default:"0.02" help:"Share of customers set aside once."`
	Recall float64 `default:"0.1" help:"Share of customers called a second time before they come."`
	Cancel float64 `default:"0.02" help:"Share of customers who give their number back."`
	Look   float64 `default:"0.05" help:"Share of customers who ask how many are ahead."`
	Pause  float64 `default:"0.01" help:"Share of turns before which a teller takes a break."`
	Clumsy float64 `default:"0.02" help:"Share of services with a command at the wrong moment, to be refused."`
	Chain  float64 `default:"0.5" help:"Share of services completed together with the next call."`
	Retry  float64 `default:"0.05" help:"Share of requests sent twice on purpose, at once or one after the other."`

	Rule        string   `default:"oldest" enum:"oldest,priority,ratio" help:"How the counters choose among their lines."`
	RuleWeights []uint32 `placeholder:"N" help:"Weights of the categories, in their order, for the rule ratio. Default: 1 each."`
	Specialists int      `help:"So many counters serve one category only."`

	Config    string   `placeholder:"FILE" help:"The daemon's configuration: its policies are judged, its resources used. Without it, the daemon must run without one."`
	Resources []string `placeholder:"NAME" help:"Shared resources that the consoles borrow. Default: those of --config."`
	Mix       string   `default:"default" enum:"default,calm,wild" help:"How often the rarer things happen: ${enum}. The flags below change one of them."`
	mixFlags

	Survive bool          `help:"The daemon may be killed and started again meanwhile: a request that nobody settles is left open instead of ending the run."`
	GiveUp  time.Duration `default:"30s" help:"How long a request is sent again before it is left open."`
	Timeout time.Duration `default:"5s" help:"Deadline of one attempt."`

	History       string   `placeholder:"FILE" help:"Append all that the clients see, as JSON lines."`
	ResumeHistory []string `placeholder:"FILE" help:"Histories of earlier runs in the same hall: judged together with this one, and their sessions taken up again."`
	JSON          string   `name:"json" placeholder:"FILE" help:"Write the result as JSON."`
}

func (c *runCmd) run(ctx context.Context, stdout, stderr io.Writer) error {
	hall, err := policy.Read(c.Config)
	if err != nil {
		return err
	}
	if len(c.Resources) == 0 {
		c.Resources = hall.Resources
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	earlier := &history.History{Displays: map[string][]history.Entry{}}
	if len(c.ResumeHistory) > 0 {
		if earlier, err = history.Read(c.ResumeHistory...); err != nil {
			return err
		}
		cfg.Reopen, cfg.Unsettled = earlier.LeftOpen(), earlier.Unsettled()
	}
	var file io.Writer
	if c.History != "" {
		f, err := os.OpenFile(c.History, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("open history: %w", err)
		}
		defer f.Close()
		file = f
	}
	fmt.Fprintf(stderr, "seed %d\n", cfg.Seed)
	policies := &hall.Policies
	rec := history.NewRecorder(file, cfg.Seed, strings.Join(os.Args[1:], " "), policies)
	played := sim.New(cfg, dialer(c.GRPCAddr), rec)
	stop := progress(stderr, played, int64(cfg.Customers))
	ran := played.Run(ctx)
	stop()
	h, err := rec.History()
	if err != nil {
		return err
	}
	if ran != nil && len(h.Ops) == 0 {
		return c.remedy(ran)
	}
	speed := cfg.Speed
	if cfg.Full {
		speed = 1
	}
	s := report.Summarise(h, speed)
	earlier.Join(h)
	return c.conclude(&s, earlier, ran, stdout, stderr)
}

// conclude judges, prints and says how the program ends.
func (c *runCmd) conclude(s *report.Summary, h *history.History, ran error, stdout, stderr io.Writer) error {
	s.Verdicts = judge.Judge(h)
	s.Holds = judge.Holds(s.Verdicts)
	if ran != nil {
		s.Error = ran.Error()
	}
	if ran == nil || s.Counts.Requests > 0 {
		s.Print(stdout)
	}
	if err := writeJSON(s, c.JSON); err != nil {
		return err
	}
	if !s.Holds {
		if ran != nil {
			fmt.Fprintln(stderr, "kiosk-sim: the run did not end:", ran)
		}
		return errBroken
	}
	return c.remedy(ran)
}

// remedy says what to do about a run that could not be played.
func (c *runCmd) remedy(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sim.ErrUnknownCounter):
		return fmt.Errorf("%w: configure counters 1 to %d in the daemon's --config, or run with a smaller --counters", err, c.Counters)
	case errors.Is(err, sim.ErrGaveUp):
		return fmt.Errorf("%w: is callerd running at %s? Start it, name its address with --grpc-addr, or allow outages with --survive", err, c.GRPCAddr)
	case errors.Is(err, sim.ErrDisplay), errors.Is(err, sim.ErrNotShown):
		return fmt.Errorf("%w: name the daemon's HTTP address with --http-addr, or run with --displays 0", err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: what was seen until then holds")
	}
	return err
}
