package journal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"callerd/internal/queue"
	journalv1 "callerd/proto/journal/v1"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"
)

// kinds is one of each kind of outcome. TestEveryKindOfOutcomeIsListed holds it against the source.
var kinds = []queue.Outcome{
	&queue.TicketChanged{},
	&queue.CounterChanged{},
	&queue.CategoryDefined{},
	&queue.CounterDefined{},
	&queue.DayOpened{},
	&queue.Started{},
	&queue.NoticePublished{},
	&queue.BranchNamed{},
	&queue.CreditsChanged{},
	&queue.CategoryReset{},
	&queue.ClockAccepted{},
	&queue.ResourceDefined{},
	&queue.ResourceChanged{},
}

// equal compares records whole; a list without entries is a list without entries.
func equal(t testing.TB, got, want []*queue.Record) {
	t.Helper()
	if d := cmp.Diff(got, want, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("records differ (-got +want):\n%s", d)
	}
}

// fill sets every field under v to something that is not zero and, if it can, unlike every other.
func fill(t testing.TB, v reflect.Value, next func() int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), next)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d 号", next()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(uint64(next()%255) + 1)
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(next()))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(next())
	default:
		t.Fatalf("a field of a kind that no outcome had before: %v", v.Type())
	}
}

func filled(t testing.TB, kind queue.Outcome, next func() int64) queue.Outcome {
	o := reflect.New(reflect.TypeOf(kind).Elem())
	fill(t, o.Elem(), next)
	return o.Interface().(queue.Outcome)
}

// roundTrip stores and loads a batch.
func roundTrip(t testing.TB, batch []*queue.Record) []*queue.Record {
	t.Helper()
	var e encoder
	value, err := e.batch(0, batch)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeBatch(batch[0].Sequence, value)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEveryFieldOfEveryOutcomeComesBack(t *testing.T) {
	n := int64(0)
	next := func() int64 { n++; return n }
	for _, kind := range kinds {
		t.Run(fmt.Sprintf("%T", kind), func(t *testing.T) {
			r := &queue.Record{Sequence: 7, At: next(), Fingerprint: 9, Actor: queue.Actor{Kind: 3, Name: "staff"}}
			fill(t, reflect.ValueOf(&r.Request).Elem(), next)
			r.Outcomes = []queue.Outcome{filled(t, kind, next), filled(t, kind, next)}
			equal(t, roundTrip(t, []*queue.Record{r}), []*queue.Record{r})
		})
	}
}

func TestAnyRecordComesBack(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		next := func() int64 { return int64(rapid.Uint16Min(1).Draw(t, "value")) }
		batch := make([]*queue.Record, rapid.IntRange(1, 5).Draw(t, "records"))
		first := rapid.Uint64Range(1, 1<<63).Draw(t, "first")
		for i := range batch {
			batch[i] = &queue.Record{Sequence: first + uint64(i), At: rapid.Int64().Draw(t, "at")}
			for range rapid.IntRange(0, 3).Draw(t, "outcomes") {
				o := filled(tb, rapid.SampledFrom(kinds).Draw(t, "kind"), next)
				clearSome(t, reflect.ValueOf(o).Elem())
				batch[i].Outcomes = append(batch[i].Outcomes, o)
			}
		}
		var e encoder
		value, err := e.batch(0, batch)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBatch(first, value)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, batch, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("records differ (-got +want):\n%s", d)
		}
	})
}

// clearSome sets some fields back to zero.
func clearSome(t *rapid.T, v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Field(i); rapid.IntRange(0, 3).Draw(t, "clear") == 0 {
			f.SetZero()
		} else if f.Kind() == reflect.Struct {
			clearSome(t, f)
		}
	}
}

func TestTextThatIsNotUTF8ComesBack(t *testing.T) {
	r := &queue.Record{Sequence: 1, Actor: queue.Actor{Name: "\xff\xfe"}, Outcomes: []queue.Outcome{
		&queue.NoticePublished{Text: queue.Names{Zh: "\x80", En: "\xc3("}},
	}}
	equal(t, roundTrip(t, []*queue.Record{r}), []*queue.Record{r})
}

func TestAnOutcomeThatCannotBeStoredIsAnError(t *testing.T) {
	var e encoder
	if _, err := e.batch(0, []*queue.Record{{Sequence: 1, Outcomes: []queue.Outcome{nil}}}); err == nil {
		t.Error("got no error, want one")
	}
}

func TestEveryKindOfOutcomeIsListed(t *testing.T) {
	var got, want []string
	for _, kind := range kinds {
		got = append(got, reflect.TypeOf(kind).Elem().Name())
	}
	for _, d := range queueDecls(t) {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "outcome" {
			want = append(want, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The stored enums are those of the domain: same numbers, and none missing.
func TestEnumsAreThoseOfTheDomain(t *testing.T) {
	enums := map[string]protoreflect.EnumDescriptor{
		"State":       journalv1.State(0).Descriptor(),
		"Verb":        journalv1.Verb(0).Descriptor(),
		"CounterVerb": journalv1.CounterVerb(0).Descriptor(),
		"ActorKind":   journalv1.ActorKind(0).Descriptor(),
		"Cause":       journalv1.Cause(0).Descriptor(),
		"Rule":        journalv1.Rule(0).Descriptor(),
	}
	consts := map[string]int{}
	for _, d := range queueDecls(t) {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			typ := ""
			for _, s := range g.Specs {
				s := s.(*ast.ValueSpec)
				if id, ok := s.Type.(*ast.Ident); ok {
					typ = id.Name
				}
				if s.Names[0].IsExported() {
					consts[typ]++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(enums)) {
		values := enums[name].Values()
		want := values.Len()
		if name == "Verb" || name == "CounterVerb" || name == "Rule" {
			want-- // their zero is no constant
		}
		if got := consts[name]; got != want {
			t.Errorf("%s has %d constants, the stored enum %d", name, got, want)
		}
		for i := range values.Len() {
			if n := values.Get(i).Number(); int(n) != i {
				t.Errorf("%s: got number %d at place %d", values.Get(i).Name(), n, i)
			}
		}
	}
	for i := range len(journalv1.State_name) {
		check(t, journalv1.State(i).String(), "STATE_", queue.State(i).String(), "NONE")
	}
	for i := range len(journalv1.Verb_name) {
		check(t, journalv1.Verb(i).String(), "VERB_", queue.Verb(i).String(), "INVALID")
	}
	pairs := map[protoreflect.Enum]int{
		journalv1.Cause_CAUSE_LEASE_ENDED:              int(queue.LeaseEnded),
		journalv1.Rule_RULE_OLDEST:                     int(queue.Oldest),
		journalv1.Rule_RULE_PRIORITY:                   int(queue.Priority),
		journalv1.CounterVerb_COUNTER_VERB_OPEN:        int(queue.OpenCounter),
		journalv1.CounterVerb_COUNTER_VERB_PAUSE:       int(queue.PauseCounter),
		journalv1.CounterVerb_COUNTER_VERB_RESUME:      int(queue.ResumeCounter),
		journalv1.CounterVerb_COUNTER_VERB_CLOSE:       int(queue.CloseCounter),
		journalv1.ActorKind_ACTOR_KIND_KIOSK:           int(queue.Kiosk),
		journalv1.ActorKind_ACTOR_KIND_TELLER:          int(queue.Teller),
		journalv1.ActorKind_ACTOR_KIND_STAFF:           int(queue.Staff),
		journalv1.ActorKind_ACTOR_KIND_UNSPECIFIED:     int(queue.System),
		journalv1.Cause_CAUSE_UNSPECIFIED:              int(queue.Asked),
		journalv1.CounterVerb_COUNTER_VERB_UNSPECIFIED: 0,
	}
	for stored, want := range pairs {
		if got := int(stored.Number()); got != want {
			t.Errorf("%v: got %d, want %d", stored, got, want)
		}
	}
}

// check holds the name of a stored value against that of the domain, whose zero may have a word of its own.
func check(t *testing.T, stored, prefix, domain, zero string) {
	t.Helper()
	got := strings.TrimPrefix(stored, prefix)
	want := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(domain))
	if got != want && !(got == "UNSPECIFIED" && domain == zero) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func queueDecls(t *testing.T) []ast.Decl {
	t.Helper()
	files, err := filepath.Glob("../queue/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source: %v", err)
	}
	var decls []ast.Decl
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		decls = append(decls, f.Decls...)
	}
	return decls
}
