// Command lockbench measures the ticket lock beside other locks, and prints a table.
//
//	go run ./cmd/lockbench -quick
//	go run ./cmd/lockbench -json lock.json -plot ../docs/bench/lock.svg
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"callerd/bench/lock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lockbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var o lock.Options
	flag.BoolVar(&o.Quick, "quick", false, "a few rows, a few seconds: whether it works")
	flag.DurationVar(&o.Slice, "slice", 0, "length of a stretch of measuring (default 15ms)")
	flag.IntVar(&o.Rounds, "rounds", 0, "how often the locks take turns (default 3)")
	flag.DurationVar(&o.Patience, "patience", 0, "how long one row may take (default 900ms); more on a machine with other things to do")
	drawn := flag.Bool("drawn", false, "only the rows that are drawn")
	locks := flag.String("locks", "", "locks to measure beside sync.Mutex, by name, with commas (default all)")
	plot := flag.String("plot", "", "write a picture to this `file.svg`")
	into := flag.String("json", "", "write the result to this `file`")
	from := flag.String("from", "", "measure nothing, read a result from this `file`")
	flag.Parse()
	if *locks != "" {
		o.Locks = strings.Split(*locks, ",")
	}
	if *drawn {
		o.Rows = lock.Drawn()
	}
	o.Progress = func(done, all int, r lock.Row) { fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d: %v", done+1, all, r) }

	var r lock.Result
	var err error
	if *from != "" {
		var data []byte
		if data, err = os.ReadFile(*from); err == nil {
			err = json.Unmarshal(data, &r)
		}
	} else {
		r, err = lock.Run(ctx, o)
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	if err != nil && len(r.Rows) == 0 {
		return err
	}
	if *into != "" {
		data, e := json.MarshalIndent(r, "", " ")
		if e == nil {
			e = os.WriteFile(*into, append(data, '\n'), 0o644)
		}
		err = errors.Join(err, e)
	}
	if *plot != "" {
		err = errors.Join(err, r.Plot(*plot))
	}
	return errors.Join(err, r.Table(os.Stdout))
}
