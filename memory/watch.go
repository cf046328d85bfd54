package memory

import (
	"context"
	"slices"
	"time"

	"github.com/headcount-live/headcount"
)

// watcher waits for the end of one lease.
type watcher struct {
	ended chan headcount.Ended // one slot: the shard never waits for a reader
}

// tell wakes the watchers of a lease. The shard is locked.
func (sh *shard) tell(id headcount.LeaseID, ended headcount.Ended) {
	if len(sh.watchers) == 0 {
		return
	}
	for _, w := range sh.watchers[id] {
		w.ended <- ended
	}
	delete(sh.watchers, id)
}

// Watch implements [headcount.LeaseStore]. It takes a goroutine for as long as the
// lease and ctx live.
func (s *Leases) Watch(ctx context.Context, a headcount.AccountHash, id headcount.LeaseID) (<-chan headcount.Ended, error) {
	sh := s.shardOf(a)
	out := make(chan headcount.Ended, 1)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.clock.now()
	if s.live(sh, a, id, now) == 0 {
		ended, ok := s.tombstone(sh, a, id, now)
		if !ok {
			return nil, headcount.Errorf(headcount.CodeLeaseExpired, "no such stream is live; press play again")
		}
		out <- ended
		close(out)
		return out, nil
	}
	w := &watcher{ended: make(chan headcount.Ended, 1)}
	if sh.watchers == nil {
		sh.watchers = map[headcount.LeaseID][]*watcher{}
	}
	sh.watchers[id] = append(sh.watchers[id], w)
	left := s.left(sh, a, id, now)
	go func() {
		defer close(out)
		s.await(ctx, sh, a, id, w, left, out)
	}()
	return out, nil
}

// await passes the end on. A lease that lapses is noticed here, since the sweep may
// come by much later.
func (s *Leases) await(ctx context.Context, sh *shard, a headcount.AccountHash, id headcount.LeaseID, w *watcher, left time.Duration, out chan<- headcount.Ended) {
	timer := time.NewTimer(left)
	defer timer.Stop()
	for {
		select {
		case e := <-w.ended:
			out <- e
			return
		case <-ctx.Done():
			sh.mu.Lock()
			sh.unwatch(id, w)
			sh.mu.Unlock()
			return
		case <-timer.C:
			sh.mu.Lock()
			now := s.clock.now()
			if left = s.left(sh, a, id, now); left == 0 {
				if e := sh.leases.find(leaseTag(a, id)); e != nil {
					s.finish(sh, e.a, headcount.Ended{Reason: headcount.ReasonExpired, StoppedAt: s.wall(now)})
					sh.forget(a)
				}
			}
			sh.mu.Unlock()
			timer.Reset(left)
		}
	}
}

// left returns how long a lease has if nobody renews it, 0 if it is not live.
func (s *Leases) left(sh *shard, a headcount.AccountHash, id headcount.LeaseID, now int64) time.Duration {
	e := sh.leases.find(leaseTag(a, id))
	if e == nil || s.lapsed(now, e.b) {
		return 0
	}
	return time.Duration(renewedAt(now, e.b)+s.ttl-now) * time.Millisecond
}

func (sh *shard) unwatch(id headcount.LeaseID, w *watcher) {
	rest := slices.DeleteFunc(sh.watchers[id], func(o *watcher) bool { return o == w })
	if len(rest) == 0 {
		delete(sh.watchers, id)
	} else {
		sh.watchers[id] = rest
	}
}
