package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strconv"

	"callerd/internal/branch"
	"callerd/internal/queue"
)

// reloader takes the configuration file again on SIGHUP. What cannot be taken while the hall is open keeps its old value and
// is told in the log; a file with faults changes nothing.
type reloader struct {
	path   string
	branch *branch.Branch
	keeper *keeper
	// defined tells the categories as they are.
	defined func() []queue.CategoryDefined
	logger  *slog.Logger
	now     *config // what holds
}

// run reloads at each signal until ctx ends.
func (r *reloader) run(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			r.reload(ctx)
		}
	}
}

func (r *reloader) reload(ctx context.Context) {
	if r.path == "" {
		r.logger.Warn("nothing to reload: no --config was given")
		return
	}
	next, lines, err := readConfig(r.path)
	if err == nil && len(lines) == 0 {
		err = errors.New(r.path + ": there is nothing in it; if the default branch is meant, write a key, such as keep_days")
	}
	if err != nil {
		r.logger.Error("the configuration has faults; the old one goes on", "error", err)
		return
	}
	r.fixed(next)
	switch err := r.branch.Reload(ctx, next.branch()); {
	case errors.Is(err, branch.ErrConfigTaken):
		r.logger.Warn("configuration taken", "error", err)
	case err != nil:
		r.logger.Error("the configuration cannot be taken now; the old one goes on", "error", err)
		return
	}
	r.keeper.keep(next.keepDays())
	r.told(next)
	r.gone(next)
	r.now = next
	r.logger.Info("configuration reloaded", "file", r.path)
}

// fixed tells what a running daemon does not change, and keeps its old value.
func (r *reloader) fixed(next *config) {
	for _, k := range [...]struct {
		key      string
		now, old *string
		why      string
	}{
		{"grpc_addr", &next.GrpcAddr, &r.now.GrpcAddr, "kiosks and consoles are connected to the old one; restart the daemon"},
		{"http_addr", &next.HTTPAddr, &r.now.HTTPAddr, "displays are connected to the old one; restart the daemon"},
		{"data", &next.Data, &r.now.Data, "the journal is open there; restart the daemon"},
		{"session.lease", &next.Session.Lease, &r.now.Session.Lease, "consoles were told the old one; restart the daemon"},
	} {
		if *k.now != *k.old {
			r.logger.Warn("kept as it was", "key", k.key, "value", *k.old, "wanted", *k.now, "why", k.why)
			*k.now = *k.old
		}
	}
	if next.zone != r.now.zone || next.Branch.DayCut != r.now.Branch.DayCut {
		r.logger.Info("the time zone and the cut act from the next business day on", "time_zone", next.zone, "day_cut", next.Branch.DayCut)
	}
}

// gone names what a file closes by no longer naming it: it may be meant, or be a file that was cut short.
func (r *reloader) gone(next *config) {
	var categories, counters []string
	for _, k := range r.now.Categories {
		if !slices.ContainsFunc(next.Categories, func(n categoryConfig) bool { return n.ID == k.ID }) {
			categories = append(categories, k.ID)
		}
	}
	for _, k := range r.now.Counters {
		if !slices.ContainsFunc(next.Counters, func(n counterConfig) bool { return n.Counter == k.Counter }) {
			counters = append(counters, strconv.Itoa(k.Counter))
		}
	}
	if len(categories)+len(counters) > 0 {
		r.logger.Warn("closed, as the file no longer names them", "categories", categories, "counters", counters)
	}
}

// told tells which prefixes stay until the next business day.
func (r *reloader) told(next *config) {
	is := map[queue.CategoryID]string{}
	for _, d := range r.defined() {
		is[d.ID] = d.Prefix
	}
	for _, k := range next.Categories {
		if now := is[queue.CategoryID(k.ID)]; now != k.Prefix {
			r.logger.Warn("kept as it was", "key", "categories."+k.ID+".prefix", "value", now, "wanted", k.Prefix,
				"why", "it has handed out numbers today; the next business day begins with the new one")
		}
	}
}
