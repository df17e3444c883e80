package server

import (
	"encoding/json"
	"time"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/protobuf/types/known/timestamppb"

	"callerd/internal/queue"
)

// frame is one record's events as a display sees them: JSON for the WebSockets, protobuf for WatchBranch. Once it is
// in a stream it is never changed.
type frame struct {
	Epoch    string  `json:"epoch"`
	Sequence uint64  `json:"sequence"`
	Previous uint64  `json:"previous"`
	Events   []event `json:"events"`
}

// event is one of the types below.
type event interface{ proto() *pb.BranchEvent }

type hall struct {
	Time       string        `json:"time"`
	Branch     text          `json:"branch"`
	Day        string        `json:"business_day"`
	Zone       string        `json:"time_zone"`
	Categories []hallLine    `json:"categories"`
	Counters   []hallCounter `json:"counters"`
	Calls      []call        `json:"calls"`
	Notice     text          `json:"notice"`
}

type hallLine struct {
	Category string `json:"category"`
	Prefix   string `json:"prefix"`
	Name     text   `json:"name"`
	Open     bool   `json:"open"`
	Waiting  uint32 `json:"waiting"`
	Issued   uint32 `json:"issued"`
	Serving  uint32 `json:"serving"`
}

type hallCounter struct {
	Counter     uint32 `json:"counter"`
	State       string `json:"state"`
	Number      string `json:"number,omitempty"`
	Ticket      string `json:"ticket,omitempty"`
	TicketState string `json:"ticket_state,omitempty"`
}

type call struct {
	Ticket   string `json:"ticket"`
	Number   string `json:"number"`
	Category string `json:"category"`
	Counter  uint32 `json:"counter"`
	Time     string `json:"time"`
	Sequence uint64 `json:"sequence"`
	Text     text   `json:"text"`
	Spoken   spoken `json:"spoken"`
	at       int64
	recall   bool
}

type (
	hallEvent struct { // snapshot, day
		Type     string `json:"type"`
		Hall     hall   `json:"hall"`
		epoch    string
		sequence uint64
	}
	callEvent struct { // called, recalled
		Type string `json:"type"`
		call
	}
	counterEvent struct {
		Type string `json:"type"`
		hallCounter
	}
	waitingEvent struct {
		Type     string `json:"type"`
		Category string `json:"category"`
		Waiting  uint32 `json:"waiting"`
		Issued   uint32 `json:"issued"`
		Serving  uint32 `json:"serving"`
		line     hallLine
	}
	noticeEvent struct {
		Type string `json:"type"`
		Text text   `json:"text"`
	}
	heartbeatEvent struct {
		Type string `json:"type"`
		Time string `json:"time"`
		at   time.Time
	}
)

// encodeFrame is the text frame of a value of a stream.
func encodeFrame(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil { // a frame is made of strings and numbers
		return []byte(`{}`)
	}
	return b
}

func (f *frame) proto() *pb.WatchBranchResponse {
	r := &pb.WatchBranchResponse{Epoch: f.Epoch, Sequence: f.Sequence, Previous: f.Previous}
	for _, e := range f.Events {
		r.Events = append(r.Events, e.proto())
	}
	return r
}

func (e hallEvent) proto() *pb.BranchEvent {
	if e.Type == "day" {
		return &pb.BranchEvent{Event: &pb.BranchEvent_Day{Day: e.Hall.proto(e.epoch, e.sequence)}}
	}
	return &pb.BranchEvent{Event: &pb.BranchEvent_Snapshot{Snapshot: e.Hall.proto(e.epoch, e.sequence)}}
}

func (e callEvent) proto() *pb.BranchEvent {
	if e.recall {
		return &pb.BranchEvent{Event: &pb.BranchEvent_Recalled{Recalled: e.call.proto()}}
	}
	return &pb.BranchEvent{Event: &pb.BranchEvent_Called{Called: e.call.proto()}}
}

func (e counterEvent) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Counter{Counter: e.hallCounter.proto()}}
}

func (e waitingEvent) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Waiting{Waiting: e.line.proto()}}
}

func (e noticeEvent) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Notice{Notice: e.Text.proto()}}
}

func (e heartbeatEvent) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Heartbeat{Heartbeat: timestamppb.New(e.at)}}
}

func (h hall) proto(epoch string, sequence uint64) *pb.Branch {
	b := &pb.Branch{Epoch: epoch, Sequence: sequence, Name: h.Branch.proto(), BusinessDay: h.Day, TimeZone: h.Zone, Notice: h.Notice.proto()}
	for _, c := range h.Categories {
		b.Categories = append(b.Categories, c.proto())
	}
	for _, c := range h.Counters {
		b.Counters = append(b.Counters, c.proto())
	}
	for _, c := range h.Calls {
		b.Calls = append(b.Calls, c.proto())
	}
	return b
}

func (l hallLine) proto() *pb.Category {
	return &pb.Category{Id: l.Category, Prefix: l.Prefix, Name: l.Name.proto(), Open: l.Open, Issued: l.Issued, Serving: l.Serving, Waiting: l.Waiting}
}

func (c hallCounter) proto() *pb.Counter {
	p := &pb.Counter{Counter: c.Counter, Number: c.Number, Ticket: c.Ticket}
	switch c.State {
	case counterOpen:
		p.State = pb.CounterState_COUNTER_STATE_OPEN
	case counterPaused:
		p.State = pb.CounterState_COUNTER_STATE_PAUSED
	default:
		p.State = pb.CounterState_COUNTER_STATE_CLOSED
	}
	switch c.TicketState {
	case ticketCalled:
		p.TicketState = pb.TicketState_TICKET_STATE_CALLED
	case ticketServing:
		p.TicketState = pb.TicketState_TICKET_STATE_SERVING
	}
	return p
}

func (c call) proto() *pb.Call {
	return &pb.Call{Ticket: c.Ticket, Number: c.Number, Category: c.Category, Counter: c.Counter, Time: timestamp(c.at),
		Sequence: c.Sequence, Recall: c.recall, Text: c.Text.proto(), SpokenZhCn: c.Spoken.Zh, SpokenEn: c.Spoken.En}
}

func (t text) proto() *pb.LocalizedText { return &pb.LocalizedText{ZhCn: t.Zh, En: t.En} }

func textOf(n queue.Names) text { return text{Zh: n.Zh, En: n.En} }
