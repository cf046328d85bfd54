package memory

import (
	"context"
	"unsafe"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/slab"
)

// batchStep is how many renewals are under way at once: enough to overlap their
// waits for memory, few enough to stay in the nearest cache.
const batchStep = 32

// RenewBatch implements [headcount.LeaseStore]. It asks for the memory of a few
// renewals ahead of making them, which hides most of the waiting for it.
func (s *Leases) RenewBatch(_ context.Context, reqs []headcount.RenewRequest, results []headcount.RenewResult) {
	var tags [batchStep]uint64
	for len(reqs) > 0 {
		n := min(batchStep, len(reqs))
		for i := range n {
			tags[i] = leaseTag(reqs[i].Account, reqs[i].Lease)
			s.shardOf(reqs[i].Account).leases.prefetch(tags[i])
		}
		now := s.clock.now()
		for i := range n {
			sh := s.shardOf(reqs[i].Account)
			sh.mu.Lock()
			results[i], _ = s.renew(sh, tags[i], &reqs[i], now)
			sh.mu.Unlock()
		}
		reqs, results = reqs[n:], results[n:]
	}
}

// layout is a table's blocks and homes as they were at one moment.
type layout struct {
	blocks []*entries
	homes  uint64
}

// prefetch asks for the memory that find will look at first. It needs no lock: a
// layout that is out of date only makes it useless.
func (t *table) prefetch(tag uint64) {
	l := t.layout.Load()
	if l == nil {
		return
	}
	i := proportion(tag, l.homes)
	slab.Prefetch(unsafe.Pointer(&l.blocks[uint(i)/entriesPerBlock][uint(i)%entriesPerBlock]))
}
