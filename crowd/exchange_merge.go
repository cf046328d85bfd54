package crowd

import (
	"context"
	"errors"

	"github.com/headcount-live/headcount"
)

// peerSnapshot is what another node last said of a partition that this node owns.
type peerSnapshot struct {
	version  uint64
	snapshot Snapshot
}

// Merge counts the partitions that this node owns and publishes the counts. It
// counts a partition only when it has the snapshots of every other registered
// node; otherwise, and while the registry cannot be believed, the counts stay as
// they are or become what another node published. It goes on after an error, and
// returns all.
func (x *Exchange) Merge(ctx context.Context) error {
	for p := range x.peers {
		if !x.roster.Owns(p) {
			x.peers[p], x.published[p] = nil, 0
		}
	}
	if x.Holds() {
		return nil
	}
	var errs []error
	for group := range x.groups(x.roster.Owns) {
		errs = append(errs, x.merge(ctx, group))
	}
	return errors.Join(errs...)
}

func (x *Exchange) merge(ctx context.Context, partitions []int) error {
	alone := x.roster.Alone()
	if !alone {
		if err := x.hearPeers(ctx, partitions); err != nil {
			return err
		}
	}
	var errs []error
	var packed []headcount.PartitionValue
	var lacking []int
	for i, p := range partitions {
		counts, err := x.count(p)
		switch {
		case err != nil:
			errs = append(errs, err)
			fallthrough
		case counts == nil:
			lacking = append(lacking, p)
		case !alone:
			x.buffers[i] = x.merger.AppendCounts(x.buffers[i][:0], p, counts)
			packed = append(packed, x.value(p, x.buffers[i]))
		}
	}
	if len(packed) > 0 {
		errs = append(errs, writeChanged(ctx, packed, x.opts.Store.PublishCounts, x.published))
	}
	if len(lacking) > 0 {
		errs = append(errs, x.Fetch(ctx, lacking))
	}
	return errors.Join(errs...)
}

// count counts a partition and makes the result known here. It returns nil
// without an error if somebody's snapshot is lacking.
func (x *Exchange) count(partition int) (*Counts, error) {
	var snapshots []Snapshot
	for _, node := range x.roster.Others() {
		peer, heard := x.peers[partition][node]
		if !heard {
			return nil, nil
		}
		snapshots = append(snapshots, peer.snapshot)
	}
	counts, err := x.merger.Merge(x.opts.Local, partition, snapshots)
	if err != nil {
		return nil, err
	}
	x.known[partition].Store(&Known{Counts: counts, AsOf: x.opts.Now()})
	return counts, nil
}

// hearPeers reads the snapshots of all other nodes on some partitions, without
// the bytes of those that did not change.
func (x *Exchange) hearPeers(ctx context.Context, partitions []int) error {
	var asked []headcount.PartitionValue
	for _, p := range partitions {
		for _, node := range x.roster.Others() {
			asked = append(asked, headcount.PartitionValue{
				Partition: p, Node: node, Version: x.peers[p][node].version,
			})
		}
	}
	found, err := x.opts.Store.Snapshots(ctx, asked)
	if err != nil {
		return err
	}
	heard := make(map[int]map[headcount.NodeID]peerSnapshot, len(partitions))
	for _, v := range found {
		peer := x.peers[v.Partition][v.Node]
		if v.Data != nil {
			snapshot, err := x.merger.OpenSnapshot(v)
			if err != nil {
				x.refuse(v.Node, err)
				continue // lacking, until it says something else
			}
			peer = peerSnapshot{v.Version, snapshot}
		}
		if heard[v.Partition] == nil {
			heard[v.Partition] = map[headcount.NodeID]peerSnapshot{}
		}
		heard[v.Partition][v.Node] = peer
	}
	for _, p := range partitions {
		x.peers[p] = heard[p]
	}
	return nil
}
