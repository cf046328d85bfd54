package memory

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/slab"
)

const shardCount = 512

// LeaseOptions configures [NewLeases].
type LeaseOptions struct {
	TTL  time.Duration // of a lease since its last renewal, and of a tombstone; 1 s to 24 h
	Rand io.Reader     // source of the generation
	// Skew, if set, is added to the engine's clock: how tests let time pass.
	Skew func() time.Duration
}

// Leases is the [headcount.LeaseStore] in this process. Its memory lies outside the
// Go heap in tables and cells that hold no pointers, in 512 shards by account, so
// the garbage collector has nothing to scan at any number of leases. Its methods
// never block for longer than another step on the same shard takes, and never
// return an error of their own, but for a tag that collides (once in 2e11 plays).
type Leases struct {
	shards     [shardCount]shard
	clock      *clock
	ttl        int64 // milliseconds
	blocks     *slab.Pool[entries]
	cells      *slab.Pool[units]
	generation atomic.Uint32
	lost       atomic.Int64 // engine time at which the generation began, after a loss
	restoredAt uint32       // renewal stamp of leases that were restored and not renewed since
	stop       chan struct{}
	done       sync.WaitGroup
}

var _ headcount.LeaseStore = (*Leases)(nil)

// NewLeases returns an empty store and starts its sweep. Close it to stop.
func NewLeases(o LeaseOptions) (*Leases, error) {
	if o.TTL < time.Second || o.TTL > 24*time.Hour {
		return nil, fmt.Errorf("memory: a lease TTL must be 1s to 24h, not %v", o.TTL)
	}
	if o.Skew == nil {
		o.Skew = func() time.Duration { return 0 }
	}
	var id [4]byte
	if _, err := io.ReadFull(o.Rand, id[:]); err != nil {
		return nil, fmt.Errorf("memory: no randomness for the generation: %w", err)
	}
	s := &Leases{
		clock:  newClock(o.Skew),
		ttl:    o.TTL.Milliseconds(),
		blocks: slab.New[entries](),
		cells:  slab.New[units](),
		stop:   make(chan struct{}),
	}
	s.generation.Store(binary.LittleEndian.Uint32(id[:]))
	for i := range s.shards {
		sh := &s.shards[i]
		sh.leases.pool, sh.accounts.pool, sh.cells.pool = s.blocks, s.blocks, s.cells
	}
	s.done.Go(s.sweepLoop)
	return s, nil
}

// Close stops the sweep. It waits for it.
func (s *Leases) Close() {
	close(s.stop)
	s.done.Wait()
}

// shardOf takes bits of the account that its tags do not begin with.
func (s *Leases) shardOf(a headcount.AccountHash) *shard {
	return &s.shards[binary.LittleEndian.Uint16(a[14:])%shardCount]
}

func (s *Leases) lapsed(now int64, renewed uint32) bool {
	return int64(int32(uint32(now)-renewed)) >= s.ttl
}

// renewedAt is the engine time of a renewal stamp.
func renewedAt(now int64, stamp uint32) int64 { return now - int64(int32(uint32(now)-stamp)) }

// Acquire implements [headcount.LeaseStore].
func (s *Leases) Acquire(_ context.Context, r *headcount.AcquireRequest) (headcount.AcquireResult, error) {
	sh := s.shardOf(r.Account)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.clock.now()

	live, own, named := 0, uint32(0), uint32(0)
	for ref := s.first(sh, r.Account); ref != 0; {
		c := sh.lease(ref)
		next := c.next
		switch {
		case c.account != r.Account:
		case s.lapsed(now, sh.leases.find(leaseTag(c.account, c.id)).b):
			s.finish(sh, ref, headcount.Ended{Reason: headcount.ReasonExpired, StoppedAt: s.wall(now)})
		case c.id == r.Lease:
			return headcount.AcquireResult{Admitted: true}, nil
		default:
			live++
			if c.heldBy(r.Device) {
				own = ref
			}
			if c.id == r.Replace {
				named = ref
			}
		}
		ref = next
	}
	if sh.leases.find(leaseTag(r.Account, r.Lease)) != nil {
		return headcount.AcquireResult{}, errCollision
	}
	room := live
	if named != 0 {
		room--
	}
	if own == 0 && room >= r.Limit {
		active := s.list(sh, r.Account, now)
		sh.forget(r.Account)
		return headcount.AcquireResult{Active: active}, nil
	}
	if named != 0 && named != own {
		s.kill(sh, named, headcount.ReasonForceStopped, now, "")
	}
	if own != 0 {
		s.kill(sh, own, headcount.ReasonReplaced, now, r.Meta.DeviceMeta)
	}
	sh.add(leaseCell{account: r.Account, id: r.Lease, device: [12]byte(r.Device[4:]), started: now}, r.Meta, uint32(now))
	return headcount.AcquireResult{Admitted: true, TookOver: own != 0}, nil
}

// Renew implements [headcount.LeaseStore].
func (s *Leases) Renew(_ context.Context, r *headcount.RenewRequest) (headcount.RenewResult, error) {
	tag, sh := leaseTag(r.Account, r.Lease), s.shardOf(r.Account)
	sh.leases.prefetch(tag) // the wait for memory begins while the clock is read
	now := s.clock.now()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return s.renew(sh, tag, r, now)
}

func (s *Leases) renew(sh *shard, tag uint64, r *headcount.RenewRequest, now int64) (headcount.RenewResult, error) {
	if e := sh.leases.find(tag); e != nil && !s.lapsed(now, e.b) {
		e.b = uint32(now)
		if !r.Meta.Empty() {
			s.describe(sh, e.a, r)
		}
		return headcount.RenewResult{State: headcount.RenewOK}, nil
	}
	if ended, ok := s.tombstone(sh, r.Account, r.Lease, now); ok {
		return headcount.RenewResult{State: headcount.RenewStopped, Ended: ended}, nil
	}
	if r.Revive > 0 && s.revivable(sh, r, now) {
		sh.add(leaseCell{account: r.Account, id: r.Lease, started: now}, r.Meta, uint32(now))
		return headcount.RenewResult{State: headcount.RenewReregistered}, nil
	}
	if r.Revive > 0 {
		sh.forget(r.Account)
	}
	return headcount.RenewResult{State: headcount.RenewUnknown}, nil
}

// describe replaces the parts of a lease's metadata that were given.
func (s *Leases) describe(sh *shard, ref uint32, r *headcount.RenewRequest) {
	c := sh.lease(ref)
	if c.account != r.Account || c.id != r.Lease {
		return // a collision of tags: a stranger's metadata is not written
	}
	if c.says(&r.Meta) {
		return // players repeat themselves
	}
	m := c.metadata()
	if r.Meta.DeviceMeta != "" {
		m.DeviceMeta = r.Meta.DeviceMeta
	}
	if r.Meta.ProfileID != "" {
		m.ProfileID = r.Meta.ProfileID
	}
	if r.Meta.TitleID != "" {
		m.TitleID = r.Meta.TitleID
	}
	sh.replaceCell(ref, sh.store(*c, m))
}

// revivable drops the account's lapsed leases and reports whether there is room
// for one more, whose device holds none of those left.
func (s *Leases) revivable(sh *shard, r *headcount.RenewRequest, now int64) bool {
	live := 0
	for ref := s.first(sh, r.Account); ref != 0; {
		c := sh.lease(ref)
		next := c.next
		switch {
		case c.account != r.Account:
		case s.lapsed(now, sh.leases.find(leaseTag(c.account, c.id)).b):
			s.finish(sh, ref, headcount.Ended{Reason: headcount.ReasonExpired, StoppedAt: s.wall(now)})
		case c.id.Device() == r.Lease.Device():
			return false
		default:
			live++
		}
		ref = next
	}
	return live < r.Revive
}
