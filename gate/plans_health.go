package gate

import "time"

// planHealth is what the cache knows about its store. Plans.mu guards it.
type planHealth struct {
	asking    bool      // a query is under way
	began     time.Time // when the newest one began
	restUntil time.Time // when a store that failed is asked again
	failing   bool      // the last outcome was a failure, or came too late
}

// overdue reports whether the query under way has taken longer than anyone waits.
func (h *planHealth) overdue(timeout time.Duration) bool {
	return h.asking && time.Since(h.began) > timeout
}

// resting reports whether the store failed a moment ago.
func (h *planHealth) resting() bool { return time.Now().Before(h.restUntil) }

// fail notes that the store did not answer, and says so once. The caller holds mu.
func (p *Plans) fail(err error) {
	if !p.store.failing {
		p.store.failing = true
		p.Logger.Warn("plans unavailable: known accounts keep their plan, others get the largest one", "error", err)
	}
}

// recover notes that the store answered in time, and says so once. The caller holds mu.
func (p *Plans) recover() {
	if p.store.failing {
		p.store.failing = false
		p.Logger.Info("plans available again")
	}
}
