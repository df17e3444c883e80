package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
)

// badValue is a value that its field may not have, and what the refusal must say.
type badValue struct {
	what   string
	value  any // string, []string, uint32, []uint32, []int32, or time.Duration
	remedy string
}

var badTexts = map[int][]badValue{
	64:  {{"too long", strings.Repeat("长", 22), "at most 64"}, {"a line break", "a\nb", "one line"}, {"a C1 control character", "a\u009bb", "one line"}},
	200: {{"too long", strings.Repeat("a", 201), "at most 200"}, {"a control character", "a\x00b", "one line"}},
	500: {{"too long", strings.Repeat("a", 501), "at most 500"}, {"a control character", "a\x7fb", "one line"}},
}

var badTickets = []badValue{
	{"no ticket id", "A001", "2026-11-30/personal/12"}, {"a number of 0", "2026-11-30/personal/0", "such as"},
	{"a day that there is not", "2026-02-30/personal/1", "such as"}, {"too long", "2026-11-30/" + strings.Repeat("p", 4000) + "/1", "such as"},
	{"a control character", "2026-11-30/personal/1\n", "such as"}, {"a number too large", "2026-11-30/personal/4294967296", "such as"},
}

// badFields are, by field, the values that are refused wherever the field stands.
var badFields = map[string][]badValue{
	"request_id": {
		{"empty", "", "make a UUID"}, {"no UUID", "12", "is not a UUID"}, {"without dashes", "000000000000400080000000000000ff", "such as"},
		{"in braces", "{0b6e2c0e-5f0e-4a51-9d1c-3a8f2f3f7f10}", "such as"}, {"the nil UUID", "00000000-0000-0000-0000-000000000000", "random"},
		{"too long", strings.Repeat("0", 5000), "such as"}, {"a wrong digit", "0b6e2c0e-5f0e-4a51-9d1c-3a8f2f3f7f1g", "such as"},
	},
	"category":        {{"in capitals", "PERSONAL", "a-z"}, {"too long", strings.Repeat("p", 33), "1 to 32"}, {"a control character", "per\tsonal", "a-z"}},
	"kiosk":           badTexts[64],
	"who":             append([]badValue{{"empty", "", "required"}}, badTexts[64]...),
	"teller":          append([]badValue{{"empty", "", "required"}}, badTexts[64]...),
	"reason":          badTexts[200],
	"text.zh_cn":      badTexts[500],
	"text.en":         badTexts[500],
	"ticket":          append([]badValue{{"empty", "", "required"}}, badTickets...),
	"complete_ticket": badTickets,
	"counter":         {{"0", uint32(0), "1 to 9999"}, {"huge", uint32(1<<32 - 1), "1 to 9999"}, {"a digit too long", uint32(10000), "1 to 9999"}},
	"categories": {
		{"an empty one", []string{""}, "ListCategories"}, {"a wrong one", []string{"personal", "X"}, "a-z"}, {"one twice", []string{"personal", "personal"}, "twice"},
		{"thousands", make([]string, 20000), "at most 100"},
	},
	"rule": {
		{"unknown", int32(99), "OLDEST, PRIORITY or RATIO"}, {"negative", int32(-1), "OLDEST, PRIORITY or RATIO"},
		{"one that stands over all", int32(4), "OLDEST, PRIORITY or RATIO"}, {"one that is a verb", int32(6), "OLDEST, PRIORITY or RATIO"},
	},
	"weights":       {{"beside no categories", []uint32{0}, "beside"}, {"too many", []uint32{1, 2}, "one for each"}},
	"take_over.who": append([]badValue{{"empty", "", "required"}}, badTexts[64]...),
	"take_over.why": append([]badValue{{"empty", "", "required"}}, badTexts[200]...),
	"why":           append([]badValue{{"empty", "", "required"}}, badTexts[200]...),
	"current":       {{"unknown", int32(9), "REQUEUE or HOLD"}, {"negative", int32(-1), "REQUEUE or HOLD"}},
	"priority":      {{"unknown", int32(9), "ELDERLY"}, {"negative", int32(-1), "ELDERLY"}},
	"person_key":    badTexts[64],
	"where":         {{"unknown", int32(9), "BACK, FRONT, AFTER or BY_ISSUE"}, {"negative", int32(-1), "BACK, FRONT"}},
	"after":         {{"without AFTER", uint32(3), "AFTER only"}},
	"fence":         {{"0", uint64(0), "AcquireResources"}},
	"names": {
		{"none", []string{}, "ListResources"}, {"a wrong one", []string{"Seal"}, "a-z"}, {"one twice", []string{"seal", "seal"}, "twice"},
		{"too many", make([]string, 21), "1 to 20"},
	},
	"ttl":           {{"0", time.Duration(0), "1s to 1h"}, {"negative", -time.Second, "1s to 1h"}, {"too long", 2 * time.Hour, "1s to 1h"}, {"too short", time.Millisecond, "1s to 1h"}},
	"wait":          {{"negative", -time.Second, "from 0 on"}},
	"session_token": {{"empty", "", "OpenCounter"}, {"too long", strings.Repeat("t", 201), "not one of ours"}},
	"states":        {{"unknown", []int32{99}, "not a state"}, {"unspecified", []int32{2, 0}, "not a state"}, {"thousands", make([]int32, 50000), "fewer"}},
	"business_day":  {{"in words", "yesterday", "2026-11-30"}, {"none of the calendar", "2026-02-30", "2026-11-30"}, {"a control character", "2026-11-30\x00", "2026-11-30"}},
	"page_size":     {{"too large", uint32(1001), "more than 1000"}, {"huge", uint32(1<<32 - 1), "more than 1000"}},
	"page_token": {
		{"no token", "!", "begin again"}, {"of no ticket", encodeToken("x"), "begin again"}, {"of another category's list", encodeToken("2026-11-30/corporate/1"), "begin again"},
		{"of another day's list", encodeToken("2026-11-29/personal/1"), "begin again"}, {"of a category that never was", encodeToken("2026-11-30/nobody/1"), "begin again"},
	},
}

// anyValue are the fields that cannot be wrong, each with the reason.
var anyValue = map[string]string{
	"WatchBranchRequest.epoch":     "an unknown epoch is another history: the answer is a snapshot",
	"WatchBranchRequest.after":     "a sequence that cannot be resumed from is answered with a snapshot",
	"ExportJournalRequest.from":    "what lies behind the end is an empty export",
	"PublishNoticeRequest.text":    "no text takes the notice away",
	"OpenCounterRequest.take_over": "none takes nothing over",
	"IssueTicketRequest.reserve":   "yes or no",
}

func encodeToken(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// goodFields are values that are not refused for themselves.
var goodFields = map[string]any{
	"request_id": requestID(77), "category": "personal", "teller": "t", "who": "w", "ticket": "2026-11-30/personal/1", "counter": uint32(1),
	"session_token": "3.1.00.00", "business_day": "2026-11-30", "take_over.who": "w", "take_over.why": "y", "why": "y",
	"names": []string{"seal"}, "ttl": time.Minute, "fence": uint64(1),
}

// set sets a field by its path.
func set(m protoreflect.Message, path string, v any) {
	name, rest, deeper := strings.Cut(path, ".")
	f := m.Descriptor().Fields().ByName(protoreflect.Name(name))
	if deeper {
		set(m.Mutable(f).Message(), rest, v)
		return
	}
	switch v := v.(type) {
	case time.Duration:
		m.Set(f, protoreflect.ValueOfMessage(durationpb.New(v).ProtoReflect()))
	case []uint32:
		for _, n := range v {
			m.Mutable(f).List().Append(protoreflect.ValueOfUint32(n))
		}
	case []string:
		m.Clear(f)
		for _, s := range v {
			m.Mutable(f).List().Append(protoreflect.ValueOfString(s))
		}
	case []int32:
		for _, n := range v {
			m.Mutable(f).List().Append(protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)))
		}
	case int32:
		m.Set(f, protoreflect.ValueOfEnum(protoreflect.EnumNumber(v)))
	default:
		m.Set(f, protoreflect.ValueOf(v))
	}
}

// fieldsOf are the paths of a message's fields.
func fieldsOf(d protoreflect.MessageDescriptor) (paths []string) {
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.Message() != nil && f.Message().FullName() == "google.protobuf.Duration" {
			paths = append(paths, string(f.Name()))
			continue
		}
		if f.Kind() == protoreflect.MessageKind && anyValue[string(d.Name())+"."+string(f.Name())] == "" {
			panic("a nested message that this test does not know: " + string(f.FullName()))
		}
		paths = append(paths, string(f.Name()))
		if f.Kind() == protoreflect.MessageKind {
			for _, inner := range fieldsOf(f.Message()) {
				paths = append(paths, string(f.Name())+"."+inner)
			}
		}
	}
	return paths
}

// request makes a request whose fields are all good.
func request(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	m := kind.New()
	for _, path := range fieldsOf(d) {
		if v, ok := goodFields[path]; ok {
			set(m, path, v)
		}
	}
	return m.Interface()
}

// ask calls any method, a streaming one up to its first message.
func (r *rig) ask(ctx context.Context, t *testing.T, m protoreflect.MethodDescriptor, req any, opts ...grpc.CallOption) (proto.Message, error) {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	if err != nil {
		t.Fatal(err)
	}
	reply, method := kind.New().Interface(), fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
	if !m.IsStreamingServer() {
		return reply, r.conn.Invoke(ctx, method, req, reply, opts...)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, opts...)
	if err != nil {
		return nil, err
	}
	if err := s.SendMsg(req); err != nil {
		return nil, err
	}
	if err := s.CloseSend(); err != nil {
		return nil, err
	}
	return reply, s.RecvMsg(reply)
}

// eachMethod calls f for every method of the API but IssueTickets, whose messages hold IssueTicket's; its own tests compare the two.
func eachMethod(f func(protoreflect.MethodDescriptor)) {
	for _, d := range services() {
		for i := range d.Methods().Len() {
			if m := d.Methods().Get(i); !m.IsStreamingClient() {
				f(m)
			}
		}
	}
}

func TestABadFieldIsNamedWithItsRemedyAndChangesNothing(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	before := r.b.Sequence()
	eachMethod(func(m protoreflect.MethodDescriptor) {
		for _, path := range fieldsOf(m.Input()) {
			bad := badFields[path]
			if anyValue[string(m.Input().Name())+"."+path] != "" {
				continue
			}
			if len(bad) == 0 {
				t.Errorf("%s.%s: this test has no bad value for it", m.Input().FullName(), path)
			}
			for _, v := range bad {
				req := request(t, m.Input())
				set(req.ProtoReflect(), path, v.value)
				_, err := r.ask(t.Context(), t, m, req)
				got := refused(err)
				if got.code != codes.InvalidArgument || got.info.Reason != "BAD_FIELD" || got.localized == "" {
					t.Errorf("%s with %s %s: got %v %v, want InvalidArgument BAD_FIELD", m.Name(), path, v.what, err, got.info)
					continue
				}
				if len(got.bad) == 0 || got.bad[0].Field != path || !strings.Contains(got.bad[0].Description, v.remedy) || !strings.Contains(got.message, path) {
					t.Errorf("%s with %s %s: got %.300q, want %s named, with %q", m.Name(), path, v.what, got.message, path, v.remedy)
				}
				if len(got.message) > 4000 {
					t.Errorf("%s with %s %s: a message of %d bytes", m.Name(), path, v.what, len(got.message))
				}
			}
		}
	})
	if got := r.b.Sequence(); got != before {
		t.Errorf("got sequence %d, want %d as before", got, before)
	}
}

func TestAllFaultsOfARequestAreToldAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	eachMethod(func(m protoreflect.MethodDescriptor) {
		req, want := request(t, m.Input()), 0
		for _, path := range fieldsOf(m.Input()) {
			if bad := badFields[path]; len(bad) > 0 && anyValue[string(m.Input().Name())+"."+path] == "" {
				if f := m.Input().Fields().ByName(protoreflect.Name(path)); f != nil && f.ContainingOneof() != nil && req.ProtoReflect().WhichOneof(f.ContainingOneof()).Name() != f.Name() {
					continue // only one of them is sent
				}
				set(req.ProtoReflect(), path, bad[0].value)
				want++
			}
		}
		if want == 0 {
			return
		}
		_, err := r.ask(t.Context(), t, m, req)
		if got := refused(err); got.code != codes.InvalidArgument || len(got.bad) != want {
			t.Errorf("%s: got %v with %v, want %d faults", m.Name(), got.code, got.bad, want)
		}
	})
}
