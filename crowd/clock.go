package crowd

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxGap is the longest time between two readings that counts as time gone by.
const maxGap = 5 * time.Second

// clock tells engine time in milliseconds. It does not run through gaps of more
// than maxGap between two readings: a process that was frozen must not find that
// everybody fell silent. So somebody has to read it every few seconds. It is safe
// for concurrent use.
type clock struct {
	now  func() time.Time
	base time.Time

	last    atomic.Int64 // newest reading, in milliseconds after base
	skipped atomic.Int64 // milliseconds that do not count
	mu      sync.Mutex   // guards a skip
}

func newClock(now func() time.Time) *clock {
	return &clock{now: now, base: now()}
}

// millis returns engine time, which wraps after 49 days: compare with elapsed.
func (c *clock) millis() uint32 {
	for {
		skipped := c.skipped.Load()
		at := c.now().Sub(c.base).Milliseconds()
		last := c.last.Load()
		switch gap := time.Duration(at-last) * time.Millisecond; {
		case gap > maxGap:
			c.skip()
		case gap > 0: // at most once a millisecond, however many read
			c.last.CompareAndSwap(last, at)
		}
		// A skip between the two loads belongs to only one of them.
		if c.skipped.Load() == skipped {
			return uint32(at - skipped)
		}
	}
}

func (c *clock) skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.now().Sub(c.base).Milliseconds()
	last := c.last.Load()
	if gap := at - last; time.Duration(gap)*time.Millisecond > maxGap {
		c.skipped.Add(gap)
		c.last.Store(at)
	}
}

// elapsed returns the milliseconds from since to now, negative if since is later.
func elapsed(now, since uint32) int32 { return int32(now - since) }
