package memory

import (
	"time"

	"github.com/headcount-live/headcount"
)

const (
	sweepEvery = 50 * time.Millisecond // well below maxGap: the sweep is what keeps the clock running
	sweepStep  = 1024                  // slots looked at with a shard locked
	trimSteps  = 16                    // after every turn: 80 MB a second, in steps of
	trimStep   = 16                    // blocks that go back to the system with a pool locked
)

// sweepLoop walks all shards within about one TTL, again and again.
func (s *Leases) sweepLoop() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	turns := max(1, s.ttl/sweepEvery.Milliseconds())
	at, budget := 0, int64(0)
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.clock.follow()
		}
		for budget += shardCount; budget >= turns; budget -= turns {
			s.sweepShard(&s.shards[at])
			at = (at + 1) % shardCount
		}
		for range trimSteps {
			s.blocks.Trim(trimStep)
			s.cells.Trim(trimStep)
		}
	}
}

// sweepShard frees what has lapsed in a shard, locking it for one step at a time.
func (s *Leases) sweepShard(sh *shard) {
	for more := true; more; {
		sh.mu.Lock()
		more = s.sweepLeases(sh, s.clock.now())
		sh.mu.Unlock()
	}
	for more := true; more; {
		sh.mu.Lock()
		more = s.sweepAccounts(sh, s.clock.now())
		sh.mu.Unlock()
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.leases.fit()
	sh.accounts.fit()
}

// sweepLeases frees the lapsed leases of one step and reports whether there is more.
func (s *Leases) sweepLeases(sh *shard, now int64) bool {
	end := min(sh.swept+sweepStep, sh.leases.slots())
	for i := sh.swept; i < end && i < sh.leases.slots(); {
		e := sh.leases.at(i)
		if e.tag == 0 || !s.lapsed(now, e.b) {
			i++
			continue
		}
		a := sh.lease(e.a).account // removing pulls the next entry into this slot
		s.finish(sh, e.a, headcount.Ended{Reason: headcount.ReasonExpired, StoppedAt: s.wall(now)})
		sh.forget(a)
	}
	sh.swept = end
	if end >= sh.leases.slots() {
		sh.swept = 0
		return false
	}
	return true
}

// sweepAccounts frees the tombstones of one step that are a TTL old.
func (s *Leases) sweepAccounts(sh *shard, now int64) bool {
	end := min(sh.buried+sweepStep, sh.accounts.slots())
	for i := sh.buried; i < end; {
		e := sh.accounts.at(i)
		if e.tag == 0 {
			i++
			continue
		}
		for link := &e.b; *link != 0; {
			if t := sh.tomb(*link); now-t.since >= s.ttl {
				sh.unlinkTomb(link)
			} else {
				link = &t.next
			}
		}
		if e.a == 0 && e.b == 0 {
			sh.accounts.remove(e.tag)
			continue
		}
		i++
	}
	sh.buried = end
	if sh.tombs == 0 || end >= sh.accounts.slots() {
		sh.buried = 0
		return false
	}
	return true
}
