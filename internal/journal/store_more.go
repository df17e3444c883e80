package journal

import (
	"callerd/internal/queue"
	journalv1 "callerd/proto/journal/v1"
)

func storePassedOver(ps []queue.PassedOver) (out []*journalv1.PassedOver) {
	for _, p := range ps {
		out = append(out, &journalv1.PassedOver{Category: string(p.Category), Lane: journalv1.Lane(p.Lane), Count: p.Count, First: storeTicketID(p.First)})
	}
	return out
}

func (l *loader) passedOver(ms []*journalv1.PassedOver) (out []queue.PassedOver) {
	for _, m := range ms {
		out = append(out, queue.PassedOver{Category: queue.CategoryID(m.Category), Lane: queue.Lane(l.byte(m.Lane)), Count: m.Count, First: loadTicketID(m.First)})
	}
	return out
}

func storeRenumbered(rs []queue.Renumbered) (out []*journalv1.Renumbered) {
	for _, r := range rs {
		out = append(out, &journalv1.Renumbered{Ticket: storeTicketID(r.Ticket), Key: storeKey(r.Key)})
	}
	return out
}

func loadRenumbered(ms []*journalv1.Renumbered) (out []queue.Renumbered) {
	for _, m := range ms {
		out = append(out, queue.Renumbered{Ticket: loadTicketID(m.Ticket), Key: loadKey(m.Key)})
	}
	return out
}

func storeCredits(c *queue.Credits) *journalv1.Credits {
	return &journalv1.Credits{Categories: storeCategories(c.Categories), Weights: c.Weights, Saved: c.Saved}
}

func loadCredits(m *journalv1.Credits) queue.Credits {
	return queue.Credits{Categories: loadCategories(m.GetCategories()), Weights: m.GetWeights(), Saved: m.GetSaved()}
}

func storeResourceDefined(o *queue.ResourceDefined) *journalv1.ResourceDefined {
	return &journalv1.ResourceDefined{Name: string(o.Name), Title: storeNames(o.Title), Configured: o.Configured}
}

func loadResourceDefined(m *journalv1.ResourceDefined) queue.ResourceDefined {
	return queue.ResourceDefined{Name: queue.ResourceName(m.GetName()), Title: loadNames(m.GetTitle()), Configured: m.GetConfigured()}
}

func storeResource(r *queue.Resource) *journalv1.Resource {
	return &journalv1.Resource{Resource: storeResourceDefined(&r.ResourceDefined), Counter: uint32(r.Counter), Fence: r.Fence, Until: r.Until, Ttl: r.TTL}
}

func loadResource(m *journalv1.Resource) queue.Resource {
	return queue.Resource{ResourceDefined: loadResourceDefined(m.Resource), Counter: queue.CounterID(m.Counter), Fence: m.Fence, Until: m.Until, TTL: m.Ttl}
}

func storeResourceChanged(o *queue.ResourceChanged) *journalv1.ResourceChanged {
	m := &journalv1.ResourceChanged{Verb: journalv1.ResourceVerb(o.Verb), Counter: uint32(o.Counter), Fence: o.Fence, Until: o.Until, Ttl: o.TTL,
		Cause: journalv1.Cause(o.Cause)}
	for _, n := range o.Names {
		m.Names = append(m.Names, string(n))
	}
	return m
}

func (l *loader) resourceChanged(m *journalv1.ResourceChanged) *queue.ResourceChanged {
	o := &queue.ResourceChanged{Verb: queue.ResourceVerb(l.byte(m.Verb)), Counter: queue.CounterID(m.Counter), Fence: m.Fence, Until: m.Until,
		TTL: m.Ttl, Cause: queue.Cause(l.byte(m.Cause))}
	for _, n := range m.Names {
		o.Names = append(o.Names, queue.ResourceName(n))
	}
	return o
}
