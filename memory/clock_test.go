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

// When the wall clock is set, or runs on while the machine sleeps, times shown from
// then on follow it, those before stay as they were, and no lease feels it.
func TestShownTimesFollowTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := time.Duration(0)
		c := newClock(func() time.Duration { return 0 })
		c.real = func() time.Time { return time.Now().Add(set) }
		first, firstShown := c.now(), time.Now().UnixMilli()
		for i, jump := range []time.Duration{0, 8 * time.Hour, -8 * time.Hour, 500 * time.Millisecond, -time.Hour} {
			set += jump
			time.Sleep(time.Second)
			c.follow()
			time.Sleep(time.Second)
			if got, want := c.now(), int64(i+1)*2000; got != want {
				t.Errorf("jump %d: engine time is %d ms, want %d", i, got, want)
			}
			off := c.wall(c.now()) - c.real().UnixMilli()
			if max(off, -off) >= maxDrift.Milliseconds() {
				t.Errorf("jump %d: now is shown %d ms off", i, off)
			}
			if got := c.wall(first); got != firstShown {
				t.Errorf("jump %d: the first moment is shown %d ms off", i, got-firstShown)
			}
		}
	})
}
