package memory

import (
	"context"

	"github.com/headcount-live/headcount"
)

var errCollision = headcount.Errorf(headcount.CodeUnavailable, "this stream id cannot be used; ask again")

// first returns the oldest cell under the account's tag, which another account's
// may share: compare the account of each.
func (s *Leases) first(sh *shard, a headcount.AccountHash) uint32 {
	if e := sh.accounts.find(accountTag(a)); e != nil {
		return e.a
	}
	return 0
}

func (s *Leases) wall(at int64) headcount.Timestamp { return headcount.Timestamp(s.clock.wall(at)) }

// live returns the cell of a lease that has not lapsed, 0 if there is none.
func (s *Leases) live(sh *shard, a headcount.AccountHash, id headcount.LeaseID, now int64) uint32 {
	e := sh.leases.find(leaseTag(a, id))
	if e == nil || s.lapsed(now, e.b) {
		return 0
	}
	if c := sh.lease(e.a); c.account != a || c.id != id {
		return 0
	}
	return e.a
}

// finish removes a lease and tells whoever watches it.
func (s *Leases) finish(sh *shard, ref uint32, ended headcount.Ended) {
	id := sh.lease(ref).id
	sh.drop(ref)
	sh.tell(id, ended)
}

// kill ends a live lease with a tombstone.
func (s *Leases) kill(sh *shard, ref uint32, reason headcount.Reason, now int64, by string) {
	c := sh.lease(ref)
	sh.bury(tombCell{account: c.account, id: c.id, stopped: now, since: now, reason: reason}, by)
	s.finish(sh, ref, headcount.Ended{Reason: reason, StoppedAt: s.wall(now), By: rawJSON([]byte(by))})
}

// Release implements [headcount.LeaseStore].
func (s *Leases) Release(_ context.Context, a headcount.AccountHash, id headcount.LeaseID) (bool, error) {
	sh := s.shardOf(a)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.clock.now()
	ref := s.live(sh, a, id, now)
	if ref == 0 {
		return false, nil
	}
	s.finish(sh, ref, headcount.Ended{Reason: headcount.ReasonExpired, StoppedAt: s.wall(now)})
	sh.forget(a)
	return true, nil
}

// Stop implements [headcount.LeaseStore].
func (s *Leases) Stop(_ context.Context, a headcount.AccountHash, id headcount.LeaseID) (bool, error) {
	sh := s.shardOf(a)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.clock.now()
	ref := s.live(sh, a, id, now)
	if ref == 0 {
		return false, nil
	}
	s.kill(sh, ref, headcount.ReasonForceStopped, now, "")
	return true, nil
}

// StopAll implements [headcount.LeaseStore].
func (s *Leases) StopAll(_ context.Context, a headcount.AccountHash) (int, error) {
	sh := s.shardOf(a)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now, n := s.clock.now(), 0
	for ref := s.first(sh, a); ref != 0; {
		c := sh.lease(ref)
		next := c.next
		switch {
		case c.account != a:
		case s.lapsed(now, sh.leases.find(leaseTag(a, c.id)).b):
			s.finish(sh, ref, headcount.Ended{Reason: headcount.ReasonExpired, StoppedAt: s.wall(now)})
		default:
			s.kill(sh, ref, headcount.ReasonForceStopped, now, "")
			n++
		}
		ref = next
	}
	sh.forget(a)
	return n, nil
}

// List implements [headcount.LeaseStore].
func (s *Leases) List(_ context.Context, a headcount.AccountHash) ([]headcount.Lease, error) {
	sh := s.shardOf(a)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return s.list(sh, a, s.clock.now()), nil
}

func (s *Leases) list(sh *shard, a headcount.AccountHash, now int64) []headcount.Lease {
	var out []headcount.Lease
	for ref := s.first(sh, a); ref != 0; ref = sh.lease(ref).next {
		c := sh.lease(ref)
		if c.account != a {
			continue
		}
		stamp := sh.leases.find(leaseTag(a, c.id)).b
		if s.lapsed(now, stamp) {
			continue
		}
		meta, profile, title := c.texts()
		out = append(out, headcount.Lease{
			ID:          c.id,
			DeviceMeta:  rawJSON(meta),
			ProfileID:   given(profile),
			TitleID:     given(title),
			StartedAt:   s.wall(c.started),
			LastSeen:    s.seen(c, stamp, now),
			LapsesInSec: int((renewedAt(now, stamp) + s.ttl - now + 999) / 1000),
		})
	}
	return out
}

// seen is when a lease was last heard of. Since a restart gave it a TTL of its own,
// its stamp does not tell, until the first renewal.
func (s *Leases) seen(c *leaseCell, stamp uint32, now int64) headcount.Timestamp {
	if c.restored != 0 && stamp == s.restoredAt {
		return s.wall(c.started) + headcount.Timestamp(c.restored-1)
	}
	return s.wall(renewedAt(now, stamp))
}

// tombstone returns how a lease was stopped, if that is still remembered.
func (s *Leases) tombstone(sh *shard, a headcount.AccountHash, id headcount.LeaseID, now int64) (headcount.Ended, bool) {
	e := sh.accounts.find(accountTag(a))
	if e == nil {
		return headcount.Ended{}, false
	}
	for ref := e.b; ref != 0; {
		t := sh.tomb(ref)
		if t.account == a && t.id == id && now-t.since < s.ttl {
			return headcount.Ended{Reason: t.reason, StoppedAt: s.wall(t.stopped), By: rawJSON(t.text())}, true
		}
		ref = t.next
	}
	return headcount.Ended{}, false
}
