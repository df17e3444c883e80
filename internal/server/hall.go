package server

import (
	"context"
	"encoding/base64"
	"errors"

	"google.golang.org/grpc"

	"callerd/internal/branch"
	"callerd/internal/hub"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// branchService serves whatever looks at the whole hall.
type branchService struct {
	pb.UnsafeBranchServiceServer
	*Server
}

func (s branchService) GetBranch(context.Context, *pb.GetBranchRequest) (*pb.GetBranchResponse, error) {
	if err := s.branch.Admitting(); err != nil {
		return nil, err
	}
	s.board.mu.Lock()
	h := s.board.snapshot("snapshot", 0)
	s.board.mu.Unlock()
	return &pb.GetBranchResponse{Branch: h.branch()}, nil
}

func (s branchService) WatchBranch(r *pb.WatchBranchRequest, stream grpc.ServerStreamingServer[pb.WatchBranchResponse]) error {
	sub, _, err := s.board.join(0, r.Epoch, r.After)
	if err != nil {
		return branch.ErrStopping
	}
	defer sub.Close()
	for {
		m, err := sub.Next(stream.Context())
		if errors.Is(err, hub.ErrClosed) {
			return branch.ErrStopping
		}
		if err != nil {
			return err
		}
		if err := stream.Send(m.Value.(*frame).proto()); err != nil {
			return err
		}
	}
}

const (
	defaultPage = 100
	mostPage    = 1000
)

func (s branchService) ListTickets(ctx context.Context, r *pb.ListTicketsRequest) (*pb.ListTicketsResponse, error) {
	var f fields
	q := branch.ListRequest{States: f.states(r.States), Size: int(r.PageSize)}
	if r.Category != "" {
		q.Category = f.category("category", r.Category)
	}
	if r.PageSize == 0 {
		q.Size = defaultPage
	} else if r.PageSize > mostPage {
		f.fault("page_size", "%d is more than %d", r.PageSize, mostPage)
	}
	if r.BusinessDay != "" {
		d, err := queue.ParseDay(r.BusinessDay)
		if err != nil {
			f.fault("business_day", "%s is not a date such as 2026-11-30", shorten(r.BusinessDay))
		}
		q.Day = d
	}
	if r.PageToken != "" {
		q.After = f.pageToken(r.PageToken, q.Category, q.Day, s.board)
		q.Day = q.After.Day // the pages of one list are of one day
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	l, err := s.branch.ListTickets(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &pb.ListTicketsResponse{Tickets: ticketProtos(l.Tickets), Sequence: l.Sequence}
	if l.More {
		out.NextPageToken = base64.RawURLEncoding.EncodeToString([]byte(l.Last.String()))
	}
	return out, nil
}

// pageToken reads the last ticket of the page before.
func (f *fields) pageToken(token string, category queue.CategoryID, day queue.Day, b *board) queue.TicketID {
	raw, notBase64 := base64.RawURLEncoding.Strict().DecodeString(token)
	after, notTicket := queue.ParseTicketID(string(raw))
	if notBase64 != nil || notTicket != nil || category != "" && after.Category != category || !day.IsZero() && after.Day != day || !b.has(after.Category) {
		f.fault("page_token", "is not one that an earlier page of the same list gave; begin again without one")
		return queue.TicketID{}
	}
	return after
}

func (s branchService) PublishNotice(ctx context.Context, r *pb.PublishNoticeRequest) (*pb.PublishNoticeResponse, error) {
	var f fields
	id, who := f.request(r.RequestId), f.text("who", r.Who, 64, true)
	text := queue.Names{Zh: f.text("text.zh_cn", r.GetText().GetZhCn(), 500, false), En: f.text("text.en", r.GetText().GetEn(), 500, false)}
	if err := f.err(); err != nil {
		return nil, err
	}
	v, err := s.branch.PublishNotice(ctx, branch.Request{ID: id, Actor: queue.Actor{Kind: queue.Staff, Name: who}}, text)
	if err != nil {
		return nil, err
	}
	return &pb.PublishNoticeResponse{Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s branchService) ExportJournal(r *pb.ExportJournalRequest, stream grpc.ServerStreamingServer[pb.ExportJournalResponse]) error {
	select { // each holds a chunk of the journal for as long as its reader pleases
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	case <-stream.Context().Done():
		return context.Cause(stream.Context())
	case <-s.stopping:
		return branch.ErrStopping
	}
	m := s.opts.Meta
	if err := stream.Send(&pb.ExportJournalResponse{Epoch: m.Epoch, BranchId: m.BranchID, Format: m.Format}); err != nil {
		return err
	}
	return s.opts.Export(stream.Context(), r.From, func(batches []*pb.JournalBatch) error {
		if err := stream.Send(&pb.ExportJournalResponse{Batches: batches}); err != nil {
			return err
		}
		return context.Cause(stream.Context())
	})
}
