package memory

import "context"

// planHistory is how many changes the feed remembers for a follower that is
// behind; one that is further behind is told that any row may have changed.
const planHistory = 10_000

// planFeed is the history of changes, oldest first. Its owner guards it with the
// lock that guards the rows, so the order of changes is the order of commits.
type planFeed struct {
	head    uint64   // changes ever made
	changed []string // the accounts of the newest ones
	wake    chan struct{}

	resume   uint64 // where the last follower that returned had got to
	resuming bool   // resume holds a position that nobody has taken up
}

func newPlanFeed() planFeed { return planFeed{wake: make(chan struct{})} }

// add records a change and wakes every follower.
func (f *planFeed) add(account string) {
	if len(f.changed) == 2*planHistory { // trimming in halves moves each entry once
		f.changed = append([]string(nil), f.changed[planHistory:]...)
	}
	f.changed = append(f.changed, account)
	f.head++
	close(f.wake)
	f.wake = make(chan struct{})
}

// since returns the changes after position at, or that they are forgotten.
func (f *planFeed) since(at uint64) (accounts []string, lost bool) {
	behind := f.head - at
	if behind > uint64(len(f.changed)) {
		return nil, true
	}
	return append([]string(nil), f.changed[len(f.changed)-int(behind):]...), false
}

// FollowPlans tells changed about every change as it happens. A second follower
// at the same time begins with all. It returns ctx.Err() when ctx ends.
func (p *Plans) FollowPlans(ctx context.Context, changed func(accounts []string, all bool)) error {
	p.mu.Lock()
	at, all := p.feed.resume, !p.feed.resuming
	if all {
		at = p.feed.head
	}
	p.feed.resuming = false
	p.mu.Unlock()

	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.feed.resuming { // two followers returned: the next takes up from the slower
			at = min(at, p.feed.resume)
		}
		p.feed.resume, p.feed.resuming = at, true
	}()

	for {
		p.mu.Lock()
		accounts, lost := p.feed.since(at)
		head, wake := p.feed.head, p.feed.wake
		p.mu.Unlock()

		switch {
		case all || lost:
			changed(nil, true)
		case len(accounts) > 0:
			changed(accounts, false)
		}
		at, all = head, false

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		}
	}
}
