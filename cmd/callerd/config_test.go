package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"callerd/internal/queue"
)

const tenFaults = `grpc_addr: 7070
branch:
  time_zone: Asia/Peking
  day_cut: 25:00
  nmae: {en: Hall}
session:
  lease: 1s
categories:
  - {id: personal, prefix: A}
  - {id: Corporate, prefix: A}
  - {id: vip, prefix: v, width: wide}
counters:
  - counter: 0
    categories: [personal, loans]
  - counter: 2
    rule: newest
`

func TestAFileWithTenFaultsNamesAllTenWithTheirLines(t *testing.T) {
	t.Parallel()
	_, err := parseConfig("hall.yaml", []byte(tenFaults))
	if err == nil {
		t.Fatal("got no error")
	}
	got := err.Error()
	for _, want := range []string{
		"hall.yaml: 12 faults",
		`line 1: grpc_addr: this is a whole number, want a text`,
		`line 3: branch.time_zone: "Asia/Peking" is not a time zone such as Asia/Shanghai`,
		`line 4: branch.day_cut: "25:00" is not a time of day such as "00:00" or "04:00"`,
		`line 5: branch.nmae: there is no such key here; there are: name, time_zone, day_cut`,
		`line 7: session.lease: "1s" is not a time between 5s and 1h`,
		`line 10: categories[1].id: "Corporate": want a-z`,
		`line 10: categories[1].prefix: "A" is that of categories[0]`,
		`line 11: categories[2].prefix: "v" is not one or two letters`,
		`line 11: categories[2].width: this is a text, want a whole number`,
		`line 13: counters[0].counter: 0 is not a counter's number: 1 to 9999`,
		`line 14: counters[0].categories[1]: "loans" is none of the categories`,
		`line 16: counters[1].rule: "newest" is not a rule: oldest, priority or ratio`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it %s", got, want)
		}
	}
}

func TestAFileThatCannotBeMeantIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ text, want string }{
		"a word":                     {"hello", "line 1: this is a text, want a block of keys"},
		"a list":                     {"- a\n- b", "line 1: this is a list, want a block of keys; there are: grpc_addr"},
		"no YAML":                    {"branch: [1, 2\n", "sequence end token"},
		"a key twice":                {"data: a\ndata: b\n", `"data" already defined`},
		"two documents":              {"data: a\n---\ndata: b\n", "line 3: a second document"},
		"two documents, one at once": {"---\ndata: a\n---\n{}\n", "line 4: a second document"},
		"a key of a key at the top":  {"branch.time_zone: UTC\n", "line 1: branch.time_zone: there is no such key here"},
		"a list where keys belong":   {"branch:\n  - a\n", "branch: this is a list, want a block of keys"},
		"keys where a list belongs":  {"counters:\n  counter: 1\n", "counters: this is a block of keys, want a list"},
		"wrong types in many places": {"data: 5\nbranch: x\nsession: [a]\ncounters:\n  - 7\n", "4 faults"},
		"a number too large":         {"counters:\n  - counter: 99999999999999999999999\n", "line 2"},
		"a fraction":                 {"counters:\n  - counter: 1.5\n", "line 2: counters[0].counter"},
		"an empty item":              {"counters:\n  - counter: 1\n  -\n", "line 3: counters[1].counter: 0 is not"},
		"no categories":              {"categories: []\n", "line 1: categories: there is none"},
		"no counters":                {"counters:\n", "line 1: counters: there is none"},
		"an anchor":                  {"data: &x a\nhttp_addr: *x\n", "2 faults"},
		"no UTF-8":                   {"data: a\nbranch:\n  name: {en: \"\xff\"}\n", "line 3: this is not UTF-8"},
		"a line break in a name":     {"branch:\n  name:\n    en: |\n      a\n      b\n", "line 3: branch.name.en"},
		"a name for no display":      {"branch:\n  name: {en: " + strings.Repeat("x", 41) + "}\n", "over 40 characters"},
		"a counter twice":            {"counters:\n  - counter: 1\n  - counter: 1\n", "line 3: counters[1].counter: 1 is counters[0] already"},
		"the machine's zone":         {"branch: {time_zone: Local}\n", "is not a time zone"},
		"an address without port":    {"http_addr: localhost\n", "line 1: http_addr"},
	} {
		_, err := parseConfig("hall.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hall.yaml") {
			t.Errorf("%s: got %v, want %q", what, err, c.want)
		}
	}
}

func TestAFileThatSaysNothingIsTheDefaultBranch(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"empty": "", "a comment": "# nothing\n", "a line of dashes": "---\n", "an empty block": "{}", "keys without values": "branch:\nsession:\ndata:\n", "a byte order mark": "\ufeff# x\n",
	} {
		c, err := parseConfig("hall.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff(defaultConfig(), c, cmp.AllowUnexported(config{})); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

func TestTheDefaultBranchHasTwoCategoriesAndFourCounters(t *testing.T) {
	t.Parallel()
	c, err := loadConfig("")
	if err != nil {
		t.Fatal(err)
	}
	b := c.branch()
	both := []queue.CategoryID{"personal", "corporate"}
	want := []queue.CategoryDefined{{ID: "personal", Prefix: "A", Width: 3, Name: queue.Names{Zh: "个人业务", En: "Personal"}},
		{ID: "corporate", Prefix: "B", Width: 3, Name: queue.Names{Zh: "对公业务", En: "Corporate"}}}
	if diff := cmp.Diff(want, b.Categories); diff != "" {
		t.Error(diff)
	}
	for i, k := range b.Counters {
		if diff := cmp.Diff(queue.CounterDefined{ID: queue.CounterID(i + 1), Categories: both, Rule: queue.Oldest}, k); diff != "" {
			t.Error(diff)
		}
	}
	if len(b.Counters) != 4 || b.Cut != 0 || c.lease() != time.Minute {
		t.Errorf("got %d counters, cut %v, lease %v", len(b.Counters), b.Cut, c.lease())
	}
}

func TestAWholeFileIsUnderstood(t *testing.T) {
	t.Parallel()
	c, err := parseConfig("hall.yaml", []byte(`grpc_addr: "127.0.0.1:1"
http_addr: localhost:2
data: /var/lib/callerd
branch:
  name: {zh-CN: 中关村支行, en: Zhongguancun}
  time_zone: Europe/Berlin
  day_cut: 04:30
session: {lease: 90s}
categories:
  - id: vip
    prefix: V
    width: 2
    name: {zh-CN: 贵宾, en: VIP}
  - {id: personal, prefix: N}
counters:
  - {counter: 7, categories: [personal, vip], rule: priority}
`))
	if err != nil {
		t.Fatal(err)
	}
	c.zone = c.Branch.TimeZone
	b := c.branch()
	if b.Name.Zh != "中关村支行" || b.Zone.String() != "Europe/Berlin" || b.Cut != 4*time.Hour+30*time.Minute || c.lease() != 90*time.Second {
		t.Errorf("got %+v, lease %v", b, c.lease())
	}
	if len(b.Categories) != 2 || b.Categories[0].Width != 2 || b.Categories[1].Width != 3 || b.Categories[1].Prefix != "N" {
		t.Errorf("got %+v", b.Categories)
	}
	if diff := cmp.Diff([]queue.CounterDefined{{ID: 7, Categories: []queue.CategoryID{"personal", "vip"}, Rule: queue.Priority}}, b.Counters); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{"", tenFaults, "data: a\n---\n", "a: &a [*a]", "<<: {data: a}", "%YAML 1.2\n---\n{}", "? [x]\n: y", "counters: [{counter: !!str 1}]", "branch: {name: >-\n x}", "\ufeff-"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConfig("x", data)
		if err == nil { // then it must be good for a branch
			c.zone = "UTC"
			c.branch()
			c.lease()
		}
	})
}
