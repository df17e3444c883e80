package server

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"callerd/internal/branch"
	"callerd/internal/hub"
)

// errorDomain is the domain of every ErrorInfo.
const errorDomain = "callerd"

// row says how one refusal leaves the server.
type row struct {
	err    error
	reason string
	code   codes.Code
	retry  time.Duration // not 0: Unavailable with RetryInfo
	zh     string        // for whoever stands at the machine
}

// errorTable is the one place where refusals become codes. Clients match the reason, never the message.
var errorTable = []row{
	{branch.ErrUnknownCategory, "UNKNOWN_CATEGORY", codes.NotFound, 0, "没有该业务类别"},
	{branch.ErrUnknownTicket, "UNKNOWN_TICKET", codes.NotFound, 0, "没有该号票"},
	{branch.ErrUnknownCounter, "UNKNOWN_COUNTER", codes.NotFound, 0, "没有该窗口"},
	{branch.ErrUnknownDay, "UNKNOWN_DAY", codes.NotFound, 0, "没有该营业日"},
	{branch.ErrWrongTicketState, "WRONG_TICKET_STATE", codes.FailedPrecondition, 0, "号票当前状态不允许此操作"},
	{branch.ErrCategoryClosed, "CATEGORY_CLOSED", codes.FailedPrecondition, 0, "该业务暂停取号"},
	{branch.ErrCounterClosed, "COUNTER_CLOSED", codes.FailedPrecondition, 0, "窗口暂停服务"},
	{branch.ErrCounterBusy, "COUNTER_BUSY", codes.FailedPrecondition, 0, "窗口有未办结的号票"},
	{branch.ErrCounterTaken, "COUNTER_TAKEN", codes.FailedPrecondition, 0, "窗口已有柜员登录"},
	{branch.ErrNoCurrentTicket, "NO_CURRENT_TICKET", codes.FailedPrecondition, 0, "窗口当前没有号票"},
	{branch.ErrStaleSession, "STALE_SESSION", codes.FailedPrecondition, 0, "登录已失效，请重新登录"},
	{branch.ErrTicketMoved, "TICKET_MOVED", codes.Aborted, 0, "该号票已不在此窗口"},
	{hub.ErrLagging, "FELL_BEHIND", codes.Aborted, 0, "连接滞后，请重新连接"},
	{branch.ErrNumbersExhausted, "NUMBERS_EXHAUSTED", codes.ResourceExhausted, 0, "今日号码已用完"},
	{branch.ErrQuotaExhausted, "QUOTA_EXHAUSTED", codes.ResourceExhausted, 0, "今日号码已取完"},
	{branch.ErrPersonLimit, "PERSON_LIMIT", codes.ResourceExhausted, 0, "您今日取号已达上限"},
	{branch.ErrRequeueTooLate, "REQUEUE_TOO_LATE", codes.FailedPrecondition, 0, "过号已失效，请重新取号"},
	{branch.ErrRecallLimit, "RECALL_LIMIT", codes.FailedPrecondition, 0, "重呼次数已达上限"},
	{branch.ErrNoShowTooEarly, "NO_SHOW_TOO_EARLY", codes.FailedPrecondition, 0, "尚未到可判定过号的时间"},
	{branch.ErrUnknownResource, "UNKNOWN_RESOURCE", codes.NotFound, 0, "没有该共用设备"},
	{branch.ErrResourceBusy, "RESOURCE_BUSY", codes.FailedPrecondition, 0, "共用设备正在使用"},
	{branch.ErrLeaseLost, "LEASE_LOST", codes.FailedPrecondition, 0, "使用权已失效"},
	{branch.ErrRequestReused, "REQUEST_REUSED", codes.InvalidArgument, 0, "请求编号重复使用"},
	{branch.ErrJournalBehind, "JOURNAL_BEHIND", codes.Unavailable, 100 * time.Millisecond, "系统繁忙，请稍后再试"},
	{branch.ErrNoSpace, "NO_SPACE", codes.Unavailable, time.Second, "系统暂不可用，请稍后再试"},
	{branch.ErrStopping, "STOPPING", codes.Unavailable, time.Second, "系统正在重启，请稍后再试"},
	{branch.ErrStoreFailed, "STORE_FAILED", codes.Unavailable, time.Second, "系统暂不可用，请稍后再试"},
}

// convert makes the status of an error of the branch. What the table does not have is Internal; its text stays in the
// log.
func (s *Server) convert(err error, method string) error {
	if err == nil {
		return nil
	}
	for _, r := range errorTable {
		if errors.Is(err, r.err) {
			return r.status(err)
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, "the deadline passed before the answer was on disk; ask again with the same request_id")
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, "the caller has gone")
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	s.opts.Logger.Error("unexpected error", "method", method, "error", err)
	return status.Error(codes.Internal, "internal error; the server's log has it")
}

func (r row) status(err error) error {
	text := err.Error()
	if r.retry != 0 { // the particulars of a store's failure are the operator's
		text = r.err.Error() + "; ask again with the same request_id"
	}
	info := &errdetails.ErrorInfo{Reason: r.reason, Domain: errorDomain, Metadata: map[string]string{}}
	if at := branch.RefusedAt(err); at != 0 {
		info.Metadata["sequence"] = strconv.FormatUint(at, 10)
	}
	if id, ok := branch.CurrentTicket(err); ok {
		info.Metadata["current_ticket"] = id.String()
	}
	if at, ok := branch.NextOpening(err); ok {
		info.Metadata["next_opening"] = at.Format(time.RFC3339)
	}
	if left, ok := branch.TimeLeft(err); ok {
		info.Metadata["seconds_left"] = strconv.Itoa(int(math.Ceil(left.Seconds())))
	}
	details := []protoadapt.MessageV1{info, &errdetails.LocalizedMessage{Locale: "zh-CN", Message: r.zh}}
	if r.retry != 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(r.retry)})
	}
	st := status.New(r.code, text)
	if with, err := st.WithDetails(details...); err == nil {
		st = with
	}
	return st.Err()
}
