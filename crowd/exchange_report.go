package crowd

import (
	"context"
	"errors"

	"github.com/headcount-live/headcount"
)

// batch is how many partitions share one call of the store: enough to save round
// trips, few enough to keep the buffers and the store's single steps small.
const batch = 8

// Report writes what this node hears on each partition that others own. A node
// that is alone writes nothing. It goes on after an error, and returns all.
func (x *Exchange) Report(ctx context.Context) error {
	if x.roster.Alone() {
		clear(x.sent)
		return nil
	}
	var errs []error
	for group := range x.groups(func(p int) bool { return !x.roster.Owns(p) }) {
		errs = append(errs, x.report(ctx, group))
	}
	return errors.Join(errs...)
}

// report writes the snapshots of some partitions, whole where the store has
// another or none, and only kept alive where it has the same.
func (x *Exchange) report(ctx context.Context, partitions []int) error {
	whole := make([]headcount.PartitionValue, 0, len(partitions))
	for i, p := range partitions {
		x.buffers[i] = x.merger.AppendSnapshot(x.buffers[i][:0], x.opts.Local, p)
		whole = append(whole, x.value(p, x.buffers[i]))
	}
	return writeChanged(ctx, whole, x.opts.Store.PutSnapshots, x.sent)
}

func (x *Exchange) value(partition int, data []byte) headcount.PartitionValue {
	return headcount.PartitionValue{Partition: partition, Node: x.opts.Self, Version: versionOf(data), Data: data}
}

// writeChanged writes values without their bytes where the version written last
// (versions, by partition) is the same, and whole where that turns out to be
// missing.
func writeChanged(
	ctx context.Context,
	whole []headcount.PartitionValue,
	write func(context.Context, []headcount.PartitionValue) ([]int, error),
	versions []uint64,
) error {
	values := make([]headcount.PartitionValue, len(whole))
	for i, v := range whole {
		values[i] = v
		if versions[v.Partition] == v.Version {
			values[i].Data = nil
		}
		versions[v.Partition] = 0 // until the store has answered
	}
	missing, err := write(ctx, values)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		again := make([]headcount.PartitionValue, len(missing))
		for i, at := range missing {
			again[i] = whole[at]
		}
		if _, err := write(ctx, again); err != nil {
			return err
		}
	}
	for _, v := range whole {
		versions[v.Partition] = v.Version
	}
	return nil
}

// groups yields the partitions that match, a batch at a time, in a slice that is
// used again.
func (x *Exchange) groups(match func(partition int) bool) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		group := make([]int, 0, batch)
		for p := range x.opts.Partitions {
			if match(p) {
				group = append(group, p)
			}
			if len(group) == batch || p == x.opts.Partitions-1 && len(group) > 0 {
				if !yield(group) {
					return
				}
				group = group[:0]
			}
		}
	}
}
