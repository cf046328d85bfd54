package memory

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxGap is the longest time between two readings that counts as time gone by: a
// process that was frozen, or a machine that slept, must not find that everybody
// fell silent. The sweep reads the clock far more often.
const maxGap = 5 * time.Second

// clock tells engine time: milliseconds that do not run through gaps. It is safe
// for concurrent use.
type clock struct {
	base    time.Time
	skew    func() time.Duration // what tests add; it does not make gaps
	last    atomic.Int64         // newest reading, in milliseconds after base
	skipped atomic.Int64         // milliseconds that did not count

	mu   sync.Mutex
	gaps []gap // oldest first, the newest 64
}

// gap is time that did not count.
type gap struct{ at, length int64 }

func newClock(skew func() time.Duration) *clock {
	return &clock{base: time.Now(), skew: skew}
}

// now returns engine time in milliseconds since the clock was made.
func (c *clock) now() int64 {
	raw := time.Since(c.base).Milliseconds()
	last := c.last.Load()
	if raw-last > maxGap.Milliseconds() {
		c.skip(raw)
	} else if raw-last > 20 { // not a word that every processor keeps writing
		c.last.CompareAndSwap(last, raw)
	}
	return raw - c.skipped.Load() + c.skew().Milliseconds()
}

func (c *clock) skip(raw int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	length := raw - c.last.Load() - 1 // one millisecond runs, so that before and after differ
	if length < maxGap.Milliseconds() {
		return // another reader was here
	}
	at := c.last.Load() - c.skipped.Load() + c.skew().Milliseconds()
	if c.gaps = append(c.gaps, gap{at, length}); len(c.gaps) > 64 {
		c.gaps = c.gaps[1:]
	}
	c.skipped.Add(length)
	c.last.Store(raw)
}

// wall returns the Unix milliseconds of a moment of engine time.
func (c *clock) wall(at int64) int64 {
	wall := c.base.UnixMilli() + at
	c.mu.Lock()
	defer c.mu.Unlock()
	skipped := c.skipped.Load()
	for i := len(c.gaps) - 1; i >= 0 && c.gaps[i].at >= at; i-- {
		skipped -= c.gaps[i].length
	}
	return wall + skipped
}
