package queue

// ResourceName names a shared desk resource: a seal, a cash counting machine, a supervisor for authorisation. The same
// characters as a category's id.
type ResourceName string

// ResourceDefined makes a resource exist, or takes it away: one that is missing from the configuration is granted no
// more.
type ResourceDefined struct {
	Name       ResourceName
	Title      Names
	Configured bool
}

// ResourceVerb is what is done to resources. The values are stored: never renumber them.
type ResourceVerb uint8

// The verbs.
const (
	AcquireResources ResourceVerb = iota + 1
	RenewResources
	ReleaseResources // by the holder, or by the system when the lease has ended
)

// ResourceChanged is one verb done to some resources together.
type ResourceChanged struct {
	Verb    ResourceVerb
	Names   []ResourceName // in their order
	Counter CounterID      // of the session that holds them
	Fence   uint64         // the fencing token: grows with every grant of the branch
	Until   int64          // when the lease ends, Unix ns
	TTL     int64          // how long it lives without a renewal, ns
	Cause   Cause
}

// Resource is a resource as it is at a time.
type Resource struct {
	ResourceDefined
	Counter CounterID // holder; 0: free
	Fence   uint64    // of the newest grant; 0: never granted
	Until   int64     // Unix ns; 0: free
	TTL     int64     // ns; 0: free
}
