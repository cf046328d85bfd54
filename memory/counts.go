package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/headcount-live/headcount"
)

// Counts is the [headcount.CountStore] in this process: for one node alone, and
// for tests of many. It forgets everything when the process ends, never fails and
// never blocks. It is safe for concurrent use.
type Counts struct {
	freshness time.Duration
	now       func() time.Time

	mu        sync.Mutex
	nodes     map[headcount.NodeID]registered
	snapshots map[snapshotKey]countValue
	counts    map[int]countValue // by partition
}

var _ headcount.CountStore = (*Counts)(nil)

type registered struct {
	note []byte
	at   time.Time
}

type snapshotKey struct {
	partition int
	node      headcount.NodeID
}

// countValue is a stored value and when it was last written or kept.
type countValue struct {
	value headcount.PartitionValue
	at    time.Time
}

// NewCounts returns an empty Counts whose values live for one freshness on the
// clock now.
func NewCounts(freshness time.Duration, now func() time.Time) *Counts {
	return &Counts{
		freshness: freshness,
		now:       now,
		nodes:     map[headcount.NodeID]registered{},
		snapshots: map[snapshotKey]countValue{},
		counts:    map[int]countValue{},
	}
}

func (c *Counts) lapsed(at, now time.Time) bool { return now.Sub(at) >= c.freshness }

// Announce registers the node for one freshness and reports whether it was
// registered already. It also drops what has lapsed, so that nodes that are gone
// leave nothing behind.
func (c *Counts) Announce(_ context.Context, node headcount.Node) (known bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.sweep(now)
	_, known = c.nodes[node.ID]
	c.nodes[node.ID] = registered{slices.Clone(node.Note), now}
	return known, nil
}

func (c *Counts) sweep(now time.Time) {
	maps.DeleteFunc(c.nodes, func(_ headcount.NodeID, r registered) bool { return c.lapsed(r.at, now) })
	maps.DeleteFunc(c.snapshots, func(_ snapshotKey, v countValue) bool { return c.lapsed(v.at, now) })
	maps.DeleteFunc(c.counts, func(_ int, v countValue) bool { return c.lapsed(v.at, now) })
}

// Nodes returns the registered nodes by ascending id.
func (c *Counts) Nodes(context.Context) ([]headcount.Node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	nodes := make([]headcount.Node, 0, len(c.nodes))
	for id, r := range c.nodes {
		if !c.lapsed(r.at, now) {
			nodes = append(nodes, headcount.Node{ID: id, Note: r.note})
		}
	}
	slices.SortFunc(nodes, func(a, b headcount.Node) int { return cmp.Compare(a.ID, b.ID) })
	return nodes, nil
}

// Depart removes the node and its snapshots at once.
func (c *Counts) Depart(_ context.Context, node headcount.NodeID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.nodes, node)
	maps.DeleteFunc(c.snapshots, func(k snapshotKey, _ countValue) bool { return k.node == node })
	return nil
}

// PutSnapshots replaces or keeps alive the snapshots of partitions by their Node.
func (c *Counts) PutSnapshots(_ context.Context, snapshots []headcount.PartitionValue) (missing []int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return putValues(c, c.snapshots, snapshots, snapshotOf), nil
}

// Snapshots looks up the snapshot of each asked Partition and Node.
func (c *Counts) Snapshots(_ context.Context, asked []headcount.PartitionValue) ([]headcount.PartitionValue, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return findValues(c, c.snapshots, asked, snapshotOf), nil
}

// PublishCounts replaces or keeps alive the counts of partitions.
func (c *Counts) PublishCounts(_ context.Context, counts []headcount.PartitionValue) (missing []int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return putValues(c, c.counts, counts, partitionOf), nil
}

// Counts looks up the counts of each asked Partition.
func (c *Counts) Counts(_ context.Context, asked []headcount.PartitionValue) ([]headcount.PartitionValue, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return findValues(c, c.counts, asked, partitionOf), nil
}

func snapshotOf(v headcount.PartitionValue) snapshotKey { return snapshotKey{v.Partition, v.Node} }

func partitionOf(v headcount.PartitionValue) int { return v.Partition }

// putValues stores each value under its key. A value without bytes only renews
// one of its version; where there is none, its index is returned.
func putValues[K comparable](
	c *Counts, stored map[K]countValue, values []headcount.PartitionValue, key func(headcount.PartitionValue) K,
) (missing []int) {
	now := c.now()
	for i, v := range values {
		if v.Data == nil {
			old, found := stored[key(v)]
			if !found || c.lapsed(old.at, now) || old.value.Version != v.Version {
				missing = append(missing, i)
				continue
			}
			v.Data = old.value.Data
		} else {
			v.Data = slices.Clone(v.Data)
		}
		stored[key(v)] = countValue{v, now}
	}
	return missing
}

// findValues returns what is alive under the keys of asked, without the bytes
// where the asker has that version.
func findValues[K comparable](
	c *Counts, stored map[K]countValue, asked []headcount.PartitionValue, key func(headcount.PartitionValue) K,
) []headcount.PartitionValue {
	now := c.now()
	found := make([]headcount.PartitionValue, 0, len(asked))
	for _, ask := range asked {
		s, ok := stored[key(ask)]
		if !ok || c.lapsed(s.at, now) {
			continue
		}
		v := s.value
		v.Age = now.Sub(s.at)
		if v.Version == ask.Version {
			v.Data = nil
		}
		found = append(found, v)
	}
	return found
}
