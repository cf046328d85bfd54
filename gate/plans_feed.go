package gate

import (
	"context"
	"sync/atomic"
	"time"
)

// planFeedPause is how long the feed waits after a failure.
const planFeedPause = time.Second

// planFeedSteady is how long a feed must run to count as working again.
const planFeedSteady = 3 * planFeedPause

// Run follows the store's changes until ctx ends, so that they show here whoever
// made them. A feed that fails is taken up again every second; what is known
// meanwhile goes on serving.
func (p *Plans) Run(ctx context.Context) {
	var failing atomic.Bool
	for {
		steady := time.AfterFunc(planFeedSteady, func() {
			if failing.CompareAndSwap(true, false) {
				p.Logger.Info("plan changes are followed again")
			}
		})
		err := p.Store.FollowPlans(ctx, p.changed)
		steady.Stop()
		if ctx.Err() != nil {
			return
		}
		if failing.CompareAndSwap(false, true) {
			p.Logger.Warn("plan changes cannot be followed: they show here once this is over", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(planFeedPause):
		}
	}
}

// changed marks as stale what the feed says may have changed. The old values stay:
// they serve if the store cannot be asked for the new ones.
func (p *Plans) changed(accounts []string, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all {
		p.era.Add(1)
		for account := range p.calls {
			p.overtake(account)
		}
		for w := range p.writing {
			w.overtaken = true
		}
		return
	}
	for _, account := range accounts {
		p.outdate(account)
	}
}
