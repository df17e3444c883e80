package queue

import (
	"fmt"
	"strings"
)

// State is where a ticket is in its life. The values are stored: never renumber them.
type State uint8

// The states of a ticket. The zero value is no state: the ticket does not exist yet.
const (
	None      State = iota
	Reserved        // 预约: taken from afar, held until check-in
	Waiting         // 等候: in the line of its category
	Called          // 已叫号: called to a counter
	Serving         // 办理中: at the counter
	Held            // 挂起: set aside by the teller
	NoShow          // 过号: called, nobody came
	Completed       // 已办结
	Cancelled       // 已取消
	Expired         // 已作废
	numStates
)

var stateNames = [numStates]string{"NONE", "RESERVED", "WAITING", "CALLED", "SERVING", "HELD", "NO_SHOW", "COMPLETED", "CANCELLED", "EXPIRED"}

// String is the state's name as in the public API.
func (s State) String() string {
	if s < numStates {
		return stateNames[s]
	}
	return "INVALID"
}

// Final reports whether nothing can happen to a ticket in this state any more.
func (s State) Final() bool { return s == Completed || s == Cancelled || s == Expired }

// AtCounter reports whether a ticket in this state belongs to a counter, whose lock then guards it.
func (s State) AtCounter() bool { return s == Called || s == Serving || s == Held }

// Current reports whether a ticket in this state is a counter's current one.
func (s State) Current() bool { return s == Called || s == Serving }

// Verb is what is done to a ticket. The values are stored: never renumber them.
type Verb uint8

// The verbs.
const (
	Issue      Verb = iota + 1 // 取号
	Call                       // 叫号
	Recall                     // 重呼
	Start                      // 开始
	Complete                   // 办结
	MarkNoShow                 // 过号
	Requeue                    // 过号重排
	Hold                       // 挂起
	Resume                     // 恢复
	Transfer                   // 转移
	Cancel                     // 取消
	CheckIn                    // 签到
	Expire                     // 作废
	Reserve                    // 预约取号
	numVerbs
)

var verbNames = [numVerbs]string{"", "issue", "call", "recall", "start", "complete", "no-show", "requeue", "hold", "resume", "transfer", "cancel", "check in", "expire", "reserve"}

// String is the verb as the documentation writes it.
func (v Verb) String() string {
	if v > 0 && v < numVerbs {
		return verbNames[v]
	}
	return "INVALID"
}

// table is the lifecycle: table[state][verb] is the state after, None where the verb is refused.
// An expiring SERVING ticket does not expire: it is completed at its counter, in its old day.
var table = [numStates][numVerbs]State{
	None:     {Issue: Waiting, Reserve: Reserved},
	Reserved: {Cancel: Cancelled, CheckIn: Waiting, Expire: Expired},
	Waiting:  {Call: Called, Transfer: Waiting, Cancel: Cancelled, Expire: Expired},
	Called: {Recall: Called, Start: Serving, Complete: Completed, MarkNoShow: NoShow, Requeue: Waiting, Hold: Held,
		Transfer: Waiting, Cancel: Cancelled, Expire: Expired},
	Serving: {Complete: Completed, Requeue: Waiting, Hold: Held, Transfer: Waiting},
	Held:    {Complete: Completed, Requeue: Waiting, Resume: Called, Transfer: Waiting, Cancel: Cancelled, Expire: Expired},
	NoShow:  {Requeue: Waiting, Expire: Expired},
}

// Next returns the state that verb v leads to from state s; ok is false where the lifecycle refuses it.
func Next(s State, v Verb) (next State, ok bool) {
	if s >= numStates || v >= numVerbs {
		return None, false
	}
	next = table[s][v]
	return next, next != None
}

// Table is the lifecycle as a Markdown table.
func Table() string {
	var b strings.Builder
	verbs := []Verb{Call, Recall, Start, Complete, MarkNoShow, Requeue, Hold, Resume, Transfer, Cancel, CheckIn, Expire}
	b.WriteString("| state \\ verb |")
	for _, v := range verbs {
		fmt.Fprintf(&b, " %v |", v)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(verbs)) + "\n")
	for s := Reserved; s < numStates; s++ {
		fmt.Fprintf(&b, "| %v |", s)
		for _, v := range verbs {
			if next, ok := Next(s, v); ok {
				fmt.Fprintf(&b, " %v |", next)
			} else {
				b.WriteString(" - |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
