package profile

import (
	"errors"
	"fmt"
	"os"

	"github.com/google/pprof/profile"
)

// Sums are the CPU of each group in a profile.
type Sums struct {
	Samples int64
	CPU     map[string]int64 // ns
}

// Read reads a CPU profile.
func Read(file string) (s Sums, err error) {
	f, err := os.Open(file)
	if err != nil {
		return s, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	s, err = sum(p)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// sum adds up the samples by their groups.
func sum(p *profile.Profile) (Sums, error) {
	s := Sums{CPU: map[string]int64{}}
	count, cpu := -1, -1
	for i, t := range p.SampleType {
		switch t.Type {
		case "samples":
			count = i
		case "cpu":
			cpu = i
		}
	}
	if count < 0 || cpu < 0 {
		return s, errors.New("it is no CPU profile")
	}
	for _, sample := range p.Sample {
		s.Samples += sample.Value[count]
		s.CPU[groupOf(functions(sample))] += sample.Value[cpu]
	}
	if s.Samples == 0 {
		return s, errors.New("it has no samples")
	}
	return s, nil
}

// functions are the names of a stack's functions, those that were compiled into others included.
func functions(s *profile.Sample) (names []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}

// Share of the CPU that a group has.
type Share struct {
	Group string  `json:"group"`
	Share float64 `json:"share"`
}

// Shares are those of all groups, in their order, which together are 1.
func (s Sums) Shares() []Share {
	all := int64(0)
	for _, ns := range s.CPU {
		all += ns
	}
	shares := make([]Share, len(Groups))
	for i, g := range Groups {
		shares[i] = Share{g.Name, float64(s.CPU[g.Name]) / float64(all)}
	}
	return shares
}
