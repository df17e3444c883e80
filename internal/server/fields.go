package server

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"callerd/internal/queue"
)

// fields checks a request's fields and keeps every fault, so that a caller learns of all at once.
type fields struct {
	faults []*errdetails.BadRequest_FieldViolation
}

// mostFaults bounds what a request with thousands of faults is told: it travels in the trailer.
const mostFaults = 20

func (f *fields) fault(field, format string, args ...any) {
	if len(f.faults) == mostFaults {
		return
	}
	f.faults = append(f.faults, &errdetails.BadRequest_FieldViolation{Field: field, Description: fmt.Sprintf(format, args...)})
}

// err is InvalidArgument with all faults, or nil.
func (f *fields) err() error {
	if len(f.faults) == 0 {
		return nil
	}
	var texts []string
	for _, v := range f.faults {
		texts = append(texts, v.Field+": "+v.Description)
	}
	st := status.New(codes.InvalidArgument, strings.Join(texts, "; "))
	info := &errdetails.ErrorInfo{Reason: "BAD_FIELD", Domain: errorDomain}
	if with, err := st.WithDetails(info, &errdetails.BadRequest{FieldViolations: f.faults},
		&errdetails.LocalizedMessage{Locale: "zh-CN", Message: "请求参数有误"}); err == nil {
		st = with
	}
	return st.Err()
}

func (f *fields) request(id string) queue.RequestID {
	u, err := uuid.Parse(id)
	switch {
	case id == "":
		f.fault("request_id", "is required: make a UUID and keep it before you send, so that you can ask again")
	case err != nil || len(id) != 36:
		f.fault("request_id", "%s is not a UUID such as 0b6e2c0e-5f0e-4a51-9d1c-3a8f2f3f7f10", shorten(id))
	case u == uuid.Nil:
		f.fault("request_id", "is the nil UUID: make a random one for each request")
	}
	return queue.RequestID(u)
}

func (f *fields) ticket(field, id string) queue.TicketID {
	if id == "" {
		f.fault(field, "is required: name the ticket by its id, so that a double click cannot hit another")
		return queue.TicketID{}
	}
	t, err := queue.ParseTicketID(id)
	if err != nil {
		f.fault(field, "%s is not a ticket id such as 2026-11-30/personal/12", shorten(id))
	}
	return t
}

func (f *fields) category(field, id string) queue.CategoryID {
	if id == "" {
		f.fault(field, "is required: ListCategories tells which there are")
		return ""
	}
	if err := queue.CategoryID(id).Validate(); err != nil {
		f.fault(field, "%s is not a category id: 1 to 32 of a-z, 0-9 and '-', a letter first", shorten(id))
	}
	return queue.CategoryID(id)
}

func (f *fields) counter(n uint32) queue.CounterID {
	if n == 0 || n > uint32(queue.MaxCounterID) {
		f.fault("counter", "%d is not a counter's number: 1 to %d", n, queue.MaxCounterID)
	}
	return queue.CounterID(n)
}

// text checks words that go into the journal: so many bytes at most, no control characters.
func (f *fields) text(field, s string, most int, required bool) string {
	switch {
	case strings.TrimSpace(s) == "" && required:
		f.fault(field, "is required")
	case len(s) > most:
		f.fault(field, "has %d bytes, at most %d are kept", len(s), most)
	case !utf8.ValidString(s):
		f.fault(field, "is not UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		f.fault(field, "has a control character; write it in one line")
	}
	return s
}

func (f *fields) token(s string) string {
	if s == "" {
		f.fault("session_token", "is required: OpenCounter gives it")
	} else if len(s) > 200 {
		f.fault("session_token", "has %d bytes: it is not one of ours", len(s))
	}
	return s
}

// shorten quotes what somebody sent, without letting it fill a log.
func shorten(s string) string {
	if len(s) > 64 {
		return fmt.Sprintf("%.64q…", s)
	}
	return fmt.Sprintf("%q", s)
}
