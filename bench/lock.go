package main

import (
	"context"
	"errors"
)

// lockCmd measures the ticket lock beside other locks. The suite has a package of its own, callerd/bench/lock; this is where it
// is hooked in, also into "all".
type lockCmd struct{}

// Run implements the command.
func (f *lockCmd) Run(ctx context.Context, c *common, s *streams) error {
	return errors.New("lock: this build has no lock suite")
}
