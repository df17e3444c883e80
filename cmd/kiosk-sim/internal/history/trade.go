package history

// The places of a line that a requeue or a transfer may name; an empty word leaves it to the daemon.
const (
	Back    = "back"
	Front   = "front"
	After   = "after"
	ByIssue = "by_issue"
)

// Reason is why a ticket was called, as the reply says.
type Reason struct {
	Rule       string       `json:"rule,omitempty"`
	Waited     int64        `json:"waited,omitempty"` // ns
	Overtaken  uint32       `json:"overtaken,omitempty"`
	PassedOver []PassedOver `json:"passed_over,omitempty"`
}

// PassedOver is a lane in which earlier tickets stayed behind.
type PassedOver struct {
	Category string `json:"category"`
	Priority bool   `json:"priority,omitempty"`
	Count    uint32 `json:"count"`
	First    string `json:"first"`
}

// Resource is a shared resource as ListResources tells it.
type Resource struct {
	Name    string `json:"name"`
	Counter uint32 `json:"counter,omitempty"`
	Fence   uint64 `json:"fence,omitempty"`
	Until   int64  `json:"until,omitempty"` // ns
	Waiting uint32 `json:"waiting,omitempty"`
}

// Ask is what a request of the whole trade names beside its ticket.
type Ask struct {
	Priority string   `json:"priority,omitempty"`
	Person   string   `json:"person,omitempty"`
	Reserve  bool     `json:"reserve,omitempty"`
	Weights  []uint32 `json:"weights,omitempty"`
	TakeOver string   `json:"take_over,omitempty"`
	// Current is what becomes of the current ticket of a counter that closes: requeue, hold or nothing said.
	Current string `json:"current,omitempty"`
	Where   string `json:"where,omitempty"`
	After   uint32 `json:"after,omitempty"`
	// Into is the category, To the counter that a ticket is transferred to.
	Into string `json:"into,omitempty"`
	To   uint32 `json:"to,omitempty"`
	// Names of the resources asked for, how long the grant lives, and how long to wait for it (ns); Fence names a grant.
	Names []string `json:"names,omitempty"`
	TTL   int64    `json:"ttl,omitempty"`
	Wait  int64    `json:"wait,omitempty"`
	Fence uint64   `json:"fence,omitempty"`
}

// Told is what a reply of the whole trade says beside its ticket.
type Told struct {
	Why       *Reason    `json:"why,omitempty"`
	Reserved  uint32     `json:"reserved,omitempty"`
	Granted   uint64     `json:"granted,omitempty"` // the fencing token of a grant
	Until     int64      `json:"until,omitempty"`   // its end, ns
	Resources []Resource `json:"resources,omitempty"`
}

// OnResources says whether the op is about shared resources.
func (o *Op) OnResources() bool {
	switch o.Method {
	case "AcquireResources", "RenewResources", "ReleaseResources", "ListResources":
		return true
	}
	return false
}
