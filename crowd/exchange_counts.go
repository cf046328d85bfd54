package crowd

import (
	"context"
	"errors"
	"time"

	"github.com/headcount-live/headcount"
)

// Known is what this node last learned about a partition. It never changes.
type Known struct {
	*Counts
	AsOf    time.Time // when it was true, on this node's clock
	version uint64    // under which it was fetched; 0 if counted here
}

// Known returns what this node last learned about a partition, by Merge or
// Fetch, or nil if nothing yet. It never blocks.
func (x *Exchange) Known(partition int) *Known { return x.known[partition].Load() }

// Fetch asks the store for the counts of some partitions that others own and
// makes them known here; those that did not change come without transfer. What
// the store does not have stays as it was, and grows old.
func (x *Exchange) Fetch(ctx context.Context, partitions []int) error {
	asked := make([]headcount.PartitionValue, len(partitions))
	before := make(map[int]*Known, len(partitions))
	for i, p := range partitions {
		asked[i].Partition = p
		if known := x.Known(p); known != nil {
			asked[i].Version, before[p] = known.version, known
		}
	}
	found, err := x.opts.Store.Counts(ctx, asked)
	if err != nil {
		return err
	}
	var errs []error
	for _, v := range found {
		known := &Known{AsOf: x.opts.Now().Add(-v.Age), version: v.Version}
		if v.Data == nil {
			known.Counts = before[v.Partition].Counts
		} else if known.Counts, err = x.merger.ReadCounts(v); err != nil {
			errs = append(errs, err)
			continue
		}
		x.learn(v.Partition, known)
	}
	return errors.Join(errs...)
}

// learn makes counts known unless something younger came in the meantime.
func (x *Exchange) learn(partition int, known *Known) {
	for {
		before := x.known[partition].Load()
		if before != nil && before.AsOf.After(known.AsOf) {
			return
		}
		if x.known[partition].CompareAndSwap(before, known) {
			return
		}
	}
}
