package history

import "time"

// Policy is what the daemon was configured to do with a category, as far as the judge holds it to it. It is written at the
// head of a run, so that a history can be judged without the configuration. A zero bounds nothing.
type Policy struct {
	MaxPerDay    int           `json:"max_per_day,omitempty"`
	MaxPerPerson int           `json:"max_per_person,omitempty"`
	MaxOvertakes int           `json:"max_overtakes,omitempty"`
	MaxWait      time.Duration `json:"max_wait,omitempty"`

	NoShowAfter   time.Duration `json:"no_show_after,omitempty"`
	MinCalls      int           `json:"min_calls,omitempty"`
	MinWait       time.Duration `json:"min_wait,omitempty"`
	MaxRecalls    int           `json:"max_recalls,omitempty"`
	NoShowAtLimit bool          `json:"no_show_at_limit,omitempty"`

	RequeueWithin  time.Duration `json:"requeue_within,omitempty"`
	RequeueNumbers int           `json:"requeue_numbers,omitempty"`
	RequeueTo      string        `json:"requeue_to,omitempty"` // a Where, empty: back
	RequeueAfter   int           `json:"requeue_after,omitempty"`

	CheckInWithin time.Duration `json:"check_in_within,omitempty"`
	HeldWithin    time.Duration `json:"held_within,omitempty"`
}

// Policies are the policies of a hall: those of the categories named, and one for all others.
type Policies struct {
	Default    Policy            `json:"default"`
	Categories map[string]Policy `json:"categories,omitempty"`
}

// Of returns a category's policy.
func (p *Policies) Of(category string) Policy {
	if q, ok := p.Categories[category]; ok {
		return q
	}
	return p.Default
}

// Policies returns those of the newest run that has any; nil when none has.
func (h *History) Policies() *Policies {
	for i := len(h.Runs) - 1; i >= 0; i-- {
		if p := h.Runs[i].Policies; p != nil {
			return p
		}
	}
	return nil
}
