package memory

import (
	"testing"
	"testing/synctest"
	"time"
)

// Engine time runs one millisecond while nobody reads the clock for more than five
// seconds, as when the process is frozen; the times that people are shown stay true.
func TestClockDoesNotRunThroughGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := newClock(func() time.Duration { return 0 })
		for i, step := range []struct{ sleep, want time.Duration }{
			{time.Second, time.Second},
			{5 * time.Second, 6 * time.Second},
			{5001 * time.Millisecond, 6001 * time.Millisecond}, // frozen
			{time.Second, 7001 * time.Millisecond},
			{time.Hour, 7002 * time.Millisecond}, // asleep
			{4 * time.Second, 11002 * time.Millisecond},
		} {
			before := c.now()
			seen := time.Now()
			time.Sleep(step.sleep)
			if got := c.now(); got != step.want.Milliseconds() {
				t.Errorf("step %d: engine time is %d ms, want %v", i, got, step.want)
			}
			if got := c.wall(c.now()); got != time.Now().UnixMilli() {
				t.Errorf("step %d: now is shown %d ms off", i, got-time.Now().UnixMilli())
			}
			if got := c.wall(before); got != seen.UnixMilli() {
				t.Errorf("step %d: a moment before is shown %d ms off", i, got-seen.UnixMilli())
			}
		}
		if got := c.wall(500); got != start.UnixMilli()+500 {
			t.Errorf("a moment before all gaps is shown %d ms off", got-start.UnixMilli()-500)
		}
	})
}
