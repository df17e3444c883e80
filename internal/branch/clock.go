package branch

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// ErrClockBehind is returned when the wall clock is far behind the newest record at the start: either it is wrong, or it was
// wrong before. Somebody must say which.
var ErrClockBehind = errors.New("the clock is behind")

// step is how far the wall clock may jump and still be believed.
const step = time.Hour

// timekeeper is the branch's time: the wall clock, as long as that can be believed. It never goes back.
//
//   - A step forward of up to an hour is taken at once, and so is a longer one for which the machine was asleep.
//   - After a step back of up to an hour time goes on at half speed until the wall clock has caught up, so that
//     deadlines still fire.
//   - After any other step time goes on by the monotonic clock, with an alarm, until the two are within an hour again.
type timekeeper struct {
	wall   func() time.Time
	boot   func() time.Duration // since the machine started, sleep included
	logger *slog.Logger

	steady func() int64 // monotonic ns, without the machine's sleep
	leapt  func()       // called when time has gone on further than anybody can have been heard: a step forward, or a sleep

	mu    sync.Mutex // a leaf, but for what leapt takes
	at    int64      // newest time told, Unix ns
	mono  time.Duration
	awake int64 // steady at that time
	alarm bool
}

// newClock begins at the newest recorded time, if the wall clock is behind that.
func newClock(wall func() time.Time, boot func() time.Duration, steady func() int64, last int64, logger *slog.Logger) *timekeeper {
	if boot == nil {
		start := wall()
		boot = func() time.Duration { return wall().Sub(start) }
	}
	return &timekeeper{wall: wall, boot: boot, logger: logger, steady: steady, leapt: func() {}, at: max(wall().UnixNano(), last), mono: boot(), awake: steady()}
}

// now returns the branch's time in Unix ns.
func (c *timekeeper) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	mono := c.boot()
	passed := int64(max(0, mono-c.mono))
	c.mono = mono
	before, awake := c.at, c.awake
	c.awake = c.steady()
	defer func() {
		if c.at-before-max(0, c.awake-awake) > int64(stalled) {
			c.leapt()
		}
	}()
	wall := c.wall().UnixNano()
	jump := time.Duration(wall - (c.at + passed))
	far := jump > step || jump < -step
	if far != c.alarm {
		c.alarm = far
		if far {
			c.logger.Error("the wall clock jumped and is not believed; time goes on by the monotonic clock", "jump", jump.String())
		} else {
			c.logger.Info("the wall clock is believed again", "jump", jump.String())
		}
	}
	switch {
	case far:
		c.at += passed
	case jump >= 0:
		c.at = wall
	default:
		c.at = max(wall, c.at+passed/2)
	}
	return c.at
}

// check refuses a start with a wall clock that is far behind the newest record.
func (c *timekeeper) check(last int64) error {
	wall := c.wall()
	if behind := time.Duration(last - wall.UnixNano()); behind > step {
		return fmt.Errorf("%w: it says %s, the newest record is of %s, %v later; set the clock, or accept it with \"callerd clock accept\" and the daemon's --data and --config",
			ErrClockBehind, wall.Format(time.RFC3339), time.Unix(0, last).In(wall.Location()).Format(time.RFC3339), behind.Round(time.Second))
	}
	return nil
}
