package load

import "time"

// pace says when the next request is due. Times are on the run's clock.
type pace struct {
	start, end time.Duration // none is due at end or later; end 0 is open
	interval   float64       // nanoseconds between two requests; 0 is as soon as there is room
	limit      int64         // requests in all; 0 is no limit
	taken      int64
}

// take returns the moment the next request was due, if that has come, and counts
// it as taken.
func (p *pace) take(now time.Duration) (due time.Duration, ok bool) {
	due, ok = p.next(now)
	if !ok || due > now {
		return 0, false
	}
	p.taken++
	return due, true
}

// next returns the moment the next request is due, and false if there is none.
// Without an interval that is now.
func (p *pace) next(now time.Duration) (due time.Duration, ok bool) {
	due = now
	if p.interval > 0 {
		due = p.start + time.Duration(float64(p.taken)*p.interval)
	}
	if p.limit > 0 && p.taken >= p.limit || p.end > 0 && due >= p.end {
		return 0, false
	}
	return due, true
}

// overdue returns how many requests were due before the end and not taken.
func (p *pace) overdue() int64 {
	if p.interval == 0 || p.end == 0 {
		return 0
	}
	planned := int64(float64(p.end-p.start) / p.interval)
	return max(0, planned-p.taken)
}
