package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"callerd/internal/branch"
	"callerd/internal/queue"
)

// configPrintCmd prints what holds. Its flags are those of serve.
type configPrintCmd struct{ serveFlags }

// Run prints one setting a line, as "key: value" and where the value comes from.
func (c *configPrintCmd) Run(kctx *kong.Context, s *streams) error {
	conf, lines, err := readConfig(c.Config)
	if err != nil {
		return err
	}
	p := &printer{w: s.out, lines: lines}
	p.flags(kctx, &c.serveFlags)
	p.line("keep_days", strconv.Itoa(conf.keepDays()), p.from("keep_days"))
	p.text("branch.name", conf.Branch.Name)
	p.line("branch.time_zone", conf.zone, cmp.Or(p.file("branch.time_zone"), "default, the machine's"))
	p.line("branch.day_cut", shown(cmp.Or(conf.Branch.DayCut, "00:00")), p.from("branch.day_cut"))
	p.line("session.lease", conf.lease().String(), p.from("session.lease"))
	b := conf.branch()
	for i, d := range b.Categories {
		at := fmt.Sprintf("categories[%d].", i)
		p.line(at+"id", string(d.ID), p.from(at+"id"))
		p.line(at+"prefix", d.Prefix, p.from(at+"prefix"))
		p.line(at+"width", strconv.Itoa(d.Width), p.from(at+"width"))
		p.text(at+"name", names(d.Name))
		for _, k := range policyValues(b.Policies[d.ID]) {
			p.line(at+k.key, k.value, cmp.Or(p.file(at+k.key), p.file("defaults."+k.key), "default"))
		}
	}
	for i, d := range b.Counters {
		at := fmt.Sprintf("counters[%d].", i)
		p.line(at+"counter", strconv.Itoa(int(d.ID)), p.from(at+"counter"))
		p.line(at+"categories", list(d.Categories), p.from(at+"categories"))
		p.line(at+"rule", ruleName(d.Rule), p.from(at+"rule"))
		p.line(at+"weights", list(d.Weights), p.from(at+"weights"))
	}
	for i, d := range b.Resources {
		at := fmt.Sprintf("resources[%d].", i)
		p.line(at+"name", string(d.Name), p.from(at+"name"))
		p.text(at+"title", names(d.Title))
	}
	return p.err
}

// printer prints settings; the first error ends it.
type printer struct {
	w     io.Writer
	lines map[string]int // of the file
	err   error
}

func (p *printer) line(key, value, from string) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, "%-44s %-28s # %s\n", key+":", value, from)
	}
}

func (p *printer) text(key string, n names) {
	p.line(key+".zh-CN", shown(n.Zh), p.from(key+".zh-CN"))
	p.line(key+".en", shown(n.En), p.from(key+".en"))
}

// file says where in the file a key stands, "" if it does not.
func (p *printer) file(key string) string {
	if n := p.lines[key]; n != 0 {
		return fmt.Sprintf("file, line %d", n)
	}
	return ""
}

func (p *printer) from(key string) string { return cmp.Or(p.file(key), "default") }

// flags prints the flags of serve: flag before environment before file before default.
func (p *printer) flags(kctx *kong.Context, f *serveFlags) {
	given := map[string]bool{}
	for _, e := range kctx.Path {
		if e.Flag != nil && !e.Resolved {
			given[e.Flag.Name] = true
		}
	}
	for _, k := range [...]struct{ name, env, value string }{
		{"grpc-addr", "CALLERD_GRPC_ADDR", f.GrpcAddr}, {"http-addr", "CALLERD_HTTP_ADDR", f.HTTPAddr}, {"data", "CALLERD_DATA", f.Data},
		{"config", "CALLERD_CONFIG", f.Config}, {"insecure", "CALLERD_INSECURE", strconv.FormatBool(f.Insecure)},
	} {
		key := strings.ReplaceAll(k.name, "-", "_")
		from := p.from(key)
		if _, set := os.LookupEnv(k.env); given[k.name] {
			from = "flag --" + k.name
		} else if set {
			from = "env " + k.env
		}
		p.line(key, cmp.Or(k.value, `""`), from)
	}
}

type policyValue struct{ key, value string }

// policyValues writes a policy as the file would.
func policyValues(p branch.Policy) []policyValue {
	to := ""
	for name, w := range places {
		if w == p.RequeueTo {
			to = name
		}
	}
	limit := "refuse"
	if p.NoShowAtLimit {
		limit = "no-show"
	}
	return []policyValue{
		{"max_per_day", limited(p.MaxPerDay)}, {"max_per_person", limited(p.MaxPerPerson)},
		{"hours", weekText(p.Hours)}, {"holidays", holidaysText(p.Hours)},
		{"max_overtakes", limited(p.MaxOvertakes)}, {"max_wait", p.MaxWait.String()},
		{"no_show.after", p.NoShowAfter.String()}, {"no_show.min_calls", limited(p.MinCalls)}, {"no_show.min_wait", p.MinWait.String()},
		{"no_show.max_recalls", limited(p.MaxRecalls)}, {"no_show.at_limit", limit},
		{"requeue.within", p.RequeueWithin.String()}, {"requeue.numbers", limited(p.RequeueNumbers)}, {"requeue.to", to}, {"requeue.after", limited(p.RequeueAfter)},
		{"check_in_within", p.CheckInWithin.String()}, {"held_within", p.HeldWithin.String()},
	}
}

func limited[T uint16 | uint32](n T) string { return strconv.FormatUint(uint64(n), 10) }

func list[T any](all []T) string {
	return "[" + strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", ", ") + "]"
}

func ruleName(r queue.Rule) string {
	for name, x := range rules {
		if x == r && name != "" {
			return name
		}
	}
	return ""
}

func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
