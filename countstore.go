package headcount

import (
	"context"
	"fmt"
	"time"
)

// CountStore carries what the nodes of one fleet tell each other about pages. It
// holds no policy and reads nothing: snapshots, counts and notes are opaque
// bytes. Every value lives for one freshness, given when a store is made, on the
// store's own clock, and its existence is its proof of being fresh; only the
// nodes' silence ever removes one. Values are absolute, so losing one, writing
// one twice or reading an old one does no lasting harm.
//
// Implementations are safe for concurrent use, copy what they keep of their
// arguments, hand out bytes that nobody changes, and may block for as long as ctx
// allows but never longer. An error means that any part of a write may or may not
// have happened; the store in this process returns none.
type CountStore interface {
	// Announce registers the node for one freshness from now and replaces its
	// note. It reports whether the node was registered already: false later than
	// the first time means that the node was silent for too long, or that the
	// store lost its memory.
	Announce(ctx context.Context, node Node) (known bool, err error)

	// Nodes returns the registered nodes by ascending id.
	Nodes(ctx context.Context) ([]Node, error)

	// Depart removes the node and its snapshots at once. Counts it published stay
	// until they lapse. A node that is unknown is no error.
	Depart(ctx context.Context, node NodeID) error

	// PutSnapshots replaces the snapshots of partitions by their Node. A value
	// without Data stands for one that the store has already: it lives for one
	// more freshness if its Version is the one stored, and otherwise its index is
	// returned, and the caller sends it whole.
	PutSnapshots(ctx context.Context, snapshots []PartitionValue) (missing []int, err error)

	// Snapshots looks up the snapshot of each asked Partition and Node. Those that
	// do not exist are left out; the rest come in the order asked. Where the asked
	// Version is the one stored, Data is nil, so that nothing unchanged travels.
	Snapshots(ctx context.Context, asked []PartitionValue) ([]PartitionValue, error)

	// PublishCounts replaces the counts of partitions, whoever published before.
	// Values without Data are as in PutSnapshots.
	PublishCounts(ctx context.Context, counts []PartitionValue) (missing []int, err error)

	// Counts looks up the counts of each asked Partition, whoever published them,
	// as Snapshots does for snapshots.
	Counts(ctx context.Context, asked []PartitionValue) ([]PartitionValue, error)
}

// NodeID names one boot of one node. It is random, so that a node that restarts
// is a new node and its old self can only age out, never be added to.
type NodeID uint64

// String returns the id as 16 hexadecimal digits.
func (id NodeID) String() string {
	return fmt.Sprintf("%016x", uint64(id))
}

// Node is one registered node with what it has to say to all others.
type Node struct {
	ID   NodeID
	Note []byte
}

// PartitionValue is one node's snapshot of a partition, or a partition's counts.
type PartitionValue struct {
	Partition int
	Node      NodeID // who wrote it
	// Version tells two values of one partition and node apart without their
	// bytes. The writer chooses it: equal data may have equal versions, different
	// data must not. 0 asks for a value of any version.
	Version uint64
	Data    []byte        // never empty where it is not left out
	Age     time.Duration // since it was last written or kept, set by the store
}
