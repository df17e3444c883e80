package server

import (
	"encoding/json"
	"time"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/protobuf/types/known/timestamppb"

	"callerd/internal/queue"
)

// frame is one record's events. The streams keep thousands of frames and most are never asked for, so it has what the board
// knows, and whoever sends it makes the words: JSON for the WebSockets, protobuf for WatchBranch. Once it is in a stream it is never
// changed.
type frame struct {
	epoch              string
	sequence, previous uint64
	events             []event
}

// event is one thing that a display is told. Neither method needs a lock.
type event interface {
	display() any // as the display protocol has it, for encoding/json
	proto() *pb.BranchEvent
}

// shownFrame is a frame as the display protocol has it.
type shownFrame struct {
	Epoch    string `json:"epoch"`
	Sequence uint64 `json:"sequence"`
	Previous uint64 `json:"previous"`
	Events   []any  `json:"events"`
}

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
}

// The events as they are shown.
type (
	hallEvent struct { // snapshot, day
		Type     string          `json:"type"`
		Hall     hall            `json:"hall"`
		calls    []*announcement // those of Hall
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
	b, err := json.Marshal(value.(*frame).shown())
	if err != nil { // a frame is made of strings and numbers
		return []byte(`{}`)
	}
	return b
}

func (f *frame) shown() *shownFrame {
	s := &shownFrame{Epoch: f.epoch, Sequence: f.sequence, Previous: f.previous, Events: make([]any, len(f.events))}
	for i, e := range f.events {
		s.Events[i] = e.display()
	}
	return s
}

func (f *frame) proto() *pb.WatchBranchResponse {
	r := &pb.WatchBranchResponse{Epoch: f.epoch, Sequence: f.sequence, Previous: f.previous}
	for _, e := range f.events {
		r.Events = append(r.Events, e.proto())
	}
	return r
}

// announcement is a call or recall as the board remembers it. It is never changed.
type announcement struct {
	ticket   queue.TicketID
	number   string
	category queue.CategoryID
	counter  queue.CounterID
	recall   bool
	sequence uint64
	at       int64 // Unix ns
	zone     *time.Location
}

func (a *announcement) call() call {
	return call{Ticket: a.ticket.String(), Number: a.number, Category: string(a.category), Counter: uint32(a.counter), Time: format(a.at, a.zone),
		Sequence: a.sequence, Text: announceText(a.number, a.counter), Spoken: announceSpoken(a.number, a.counter)}
}

func (a *announcement) display() any {
	if a.recall {
		return callEvent{"recalled", a.call()}
	}
	return callEvent{"called", a.call()}
}

func (a *announcement) proto() *pb.BranchEvent {
	if a.recall {
		return &pb.BranchEvent{Event: &pb.BranchEvent_Recalled{Recalled: a.callProto()}}
	}
	return &pb.BranchEvent{Event: &pb.BranchEvent_Called{Called: a.callProto()}}
}

func (a *announcement) callProto() *pb.Call {
	c := a.call()
	return &pb.Call{Ticket: c.Ticket, Number: c.Number, Category: c.Category, Counter: c.Counter, Time: timestamp(a.at),
		Sequence: c.Sequence, Recall: a.recall, Text: c.Text.proto(), SpokenZhCn: c.Spoken.Zh, SpokenEn: c.Spoken.En}
}

func (c counterNow) display() any { return counterEvent{"counter", c.view()} }

func (c counterNow) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Counter{Counter: c.view().proto()}}
}

func (l lineNow) display() any {
	return waitingEvent{"waiting", string(l.def.ID), l.waiting, l.issued, l.serving}
}

func (l lineNow) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Waiting{Waiting: l.view().proto()}}
}

func (e hallEvent) display() any { return e }

func (e hallEvent) proto() *pb.BranchEvent {
	if e.Type == "day" {
		return &pb.BranchEvent{Event: &pb.BranchEvent_Day{Day: e.branch()}}
	}
	return &pb.BranchEvent{Event: &pb.BranchEvent_Snapshot{Snapshot: e.branch()}}
}

func (e noticeEvent) display() any { return e }

func (e noticeEvent) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Notice{Notice: e.Text.proto()}}
}

func (e heartbeatEvent) display() any { return e }

func (e heartbeatEvent) proto() *pb.BranchEvent {
	return &pb.BranchEvent{Event: &pb.BranchEvent_Heartbeat{Heartbeat: timestamppb.New(e.at)}}
}

// branch is a snapshot for gRPC.
func (e hallEvent) branch() *pb.Branch {
	h := &e.Hall
	b := &pb.Branch{Epoch: e.epoch, Sequence: e.sequence, Name: h.Branch.proto(), BusinessDay: h.Day, TimeZone: h.Zone, Notice: h.Notice.proto()}
	for _, c := range h.Categories {
		b.Categories = append(b.Categories, c.proto())
	}
	for _, c := range h.Counters {
		b.Counters = append(b.Counters, c.proto())
	}
	for _, a := range e.calls {
		b.Calls = append(b.Calls, a.callProto())
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

func (t text) proto() *pb.LocalizedText { return &pb.LocalizedText{ZhCn: t.Zh, En: t.En} }

func textOf(n queue.Names) text { return text{Zh: n.Zh, En: n.En} }
