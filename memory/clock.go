package memory

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxGap is the longest time between two readings that counts as time gone by: a
	// process that was frozen must not find that everybody fell silent. The sweep
	// reads the clock far more often.
	maxGap = 5 * time.Second
	// maxDrift is how far the wall clock may leave ours before we follow it.
	maxDrift = time.Second
	// maxJumps is how many jumps are remembered to show moments before them truly.
	maxJumps = 64
)

// clock tells engine time: milliseconds that do not run through gaps, whatever
// happens to the wall clock. It is safe for concurrent use.
type clock struct {
	base    time.Time
	real    func() time.Time     // the wall clock
	skew    func() time.Duration // what tests add; it does not make gaps
	last    atomic.Int64         // newest reading, in milliseconds after base
	skipped atomic.Int64         // milliseconds that did not count

	mu      sync.Mutex // guards the writing of what follows
	drift   int64      // what the wall clock gained on the system's monotonic one
	history atomic.Pointer[history]
}

// history is how far the wall clock ran ahead of engine time, and when it began to.
// It is never changed, only replaced.
type history struct {
	ahead int64
	jumps []jump // oldest first
}

// jump is a moment of engine time at which the wall clock went on by itself.
type jump struct{ at, length int64 }

func newClock(skew func() time.Duration) *clock {
	c := &clock{base: time.Now(), real: time.Now, skew: skew}
	c.history.Store(&history{})
	return c
}

// now returns engine time in milliseconds since the clock was made.
func (c *clock) now() int64 {
	for {
		skipped, raw := c.skipped.Load(), time.Since(c.base).Milliseconds()
		last := c.last.Load()
		if raw-last > maxGap.Milliseconds() {
			c.skip(raw)
			continue
		}
		if raw-last > 20 { // not a word that every processor keeps writing
			c.last.CompareAndSwap(last, raw)
		}
		// A reader that was frozen in here must not subtract a gap that it has not seen.
		if c.skipped.Load() == skipped {
			return raw - skipped + c.skew().Milliseconds()
		}
	}
}

func (c *clock) skip(raw int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	length := raw - c.last.Load() - 1 // one millisecond runs, so that before and after differ
	if length < maxGap.Milliseconds() {
		return // another reader was here
	}
	c.jumped(c.last.Load()-c.skipped.Load()+c.skew().Milliseconds(), length)
	c.skipped.Add(length)
	c.last.Store(raw)
}

// follow notices when the wall clock was set, or ran on while the machine slept and
// our clock stood, so that times shown from now on are true. Leases do not feel it.
func (c *clock) follow() {
	at := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, raw := c.real().UnixMilli(), time.Since(c.base).Milliseconds()
	drift := wall - c.base.UnixMilli() - raw
	if length := drift - c.drift; max(length, -length) >= maxDrift.Milliseconds() {
		c.jumped(at, length)
		c.drift = drift
	}
}

// jumped notes a jump. The caller holds mu.
func (c *clock) jumped(at, length int64) {
	old := c.history.Load()
	jumps := append(append(make([]jump, 0, maxJumps+1), old.jumps...), jump{at, length})
	c.history.Store(&history{
		ahead: old.ahead + length,
		jumps: jumps[max(0, len(jumps)-maxJumps):],
	})
}

// wall returns the Unix milliseconds of a moment of engine time.
func (c *clock) wall(at int64) int64 {
	h := c.history.Load()
	ahead := h.ahead
	for i := len(h.jumps) - 1; i >= 0 && h.jumps[i].at >= at; i-- {
		ahead -= h.jumps[i].length
	}
	return c.base.UnixMilli() + at + ahead
}
