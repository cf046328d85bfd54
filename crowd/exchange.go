package crowd

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/headcount-live/headcount"
)

// Exchange is one node's traffic with the rest of its fleet through a CountStore.
// It starts no goroutine: a report loop calls
//
//	Sync     every half report interval, first of all   who is there?
//	Report   every report interval                      what this node hears
//	Merge    every half report interval                 counts of the partitions it owns
//	Fetch    every half report interval                 counts of others that are read here
//
// Sync, Report and Merge belong to one goroutine. Fetch, Known, Leave and
// everything else may be called from any. Each call blocks for as long as its
// context and the store allow, and may be repeated after an error.
type Exchange struct {
	opts   ExchangeOptions
	merger *Merger
	roster *Roster
	alone  atomic.Bool
	holds  atomic.Bool

	sent      []uint64                            // by partition: version of its snapshot in the store, 0 for none
	published []uint64                            // by partition: version of its counts in the store, 0 for none
	peers     []map[headcount.NodeID]peerSnapshot // by partition, of those it owns
	refused   map[headcount.NodeID]bool           // nodes that cannot be understood, each said once

	outnumbered bool // by nodes that hash or divide pages in another way

	buffers [batch][]byte // for packed values, until the store has taken them

	known  []atomic.Pointer[Known] // by partition
	leaves leaveLog
}

// ExchangeOptions says what an Exchange works with. All fields are needed.
type ExchangeOptions struct {
	Store          headcount.CountStore
	Self           headcount.NodeID
	Local          Local
	Fingerprint    uint64        // of the hash key, by headcount.Hasher
	Partitions     int           // the same on all nodes
	ExactThreshold int           // sessions that a node still lists one by one
	Freshness      time.Duration // how long the store keeps a value
	Now            func() time.Time
	Logger         *slog.Logger

	// Forget is called by Sync for each session that left a page on another node,
	// which did not hold it.
	Forget func(page PageKey, session uint64)
}

// NewExchange returns the Exchange of a node that has not announced itself yet.
func NewExchange(opts ExchangeOptions) *Exchange {
	x := &Exchange{
		opts:      opts,
		merger:    NewMerger(opts.Fingerprint, opts.Partitions, opts.ExactThreshold),
		roster:    NewRoster(opts.Self, opts.Partitions, opts.Freshness),
		sent:      make([]uint64, opts.Partitions),
		published: make([]uint64, opts.Partitions),
		peers:     make([]map[headcount.NodeID]peerSnapshot, opts.Partitions),
		refused:   map[headcount.NodeID]bool{},
		known:     make([]atomic.Pointer[Known], opts.Partitions),
		leaves:    leaveLog{keep: opts.Freshness},
	}
	x.alone.Store(true)
	return x
}

// Sync keeps this node registered and learns who else is. Leaves of sessions that
// this node does not hold travel with it, those of other nodes arrive.
func (x *Exchange) Sync(ctx context.Context) error {
	note := x.leaves.note(x.opts.Fingerprint, x.opts.Partitions, x.opts.Now())
	known, err := x.opts.Store.Announce(ctx, headcount.Node{ID: x.opts.Self, Note: note})
	if err != nil {
		return err
	}
	nodes, err := x.opts.Store.Nodes(ctx)
	if err != nil {
		return err
	}
	now := x.opts.Now()
	x.roster.Observe(known, x.ours(nodes), now)
	x.alone.Store(x.roster.Alone())
	x.hold(x.outnumbered || x.roster.Holds(now), len(nodes))
	x.forgetAbsent(nodes)
	return nil
}

// hold notes whether the registry can be believed, and says when that changes.
func (x *Exchange) hold(holds bool, nodes int) {
	switch {
	case x.holds.Swap(holds) == holds:
	case holds:
		x.opts.Logger.Warn("the registry of nodes cannot be believed; counts stand still until it can", "registered", nodes)
	default:
		x.opts.Logger.Info("the registry of nodes can be believed again; counts go on", "registered", nodes)
	}
}

// ours returns the nodes that hash and divide pages as this one does, after
// hearing their leaves. The others are said once and are no part of the fleet.
// Both kinds would write over each other's counts, so the fewer keep still; equal
// numbers let the lowest id decide.
func (x *Exchange) ours(nodes []headcount.Node) []headcount.Node {
	ours := make([]headcount.Node, 0, len(nodes))
	foreign := 0
	for _, n := range nodes {
		note, err := readNote(n.Note, x.opts.Fingerprint, x.opts.Partitions)
		if err != nil {
			foreign++
			x.refuse(n.ID, err)
			continue
		}
		ours = append(ours, n)
		if n.ID != x.opts.Self {
			x.leaves.hear(n.ID, note, x.opts.Forget)
		}
	}
	x.outnumbered = foreign > len(ours) || foreign > 0 && foreign == len(ours) && nodes[0].ID != ours[0].ID
	return ours
}

// refuse says once a node that what it says cannot be used.
func (x *Exchange) refuse(node headcount.NodeID, err error) {
	if !x.refused[node] {
		x.refused[node] = true
		x.opts.Logger.Error("what another node says about pages is refused", "node", node.String(), "error", err)
	}
}

// forgetAbsent drops what is kept of nodes that are gone for good: ids are never
// used again.
func (x *Exchange) forgetAbsent(nodes []headcount.Node) {
	absent := func(id headcount.NodeID) bool {
		return !slices.ContainsFunc(nodes, func(n headcount.Node) bool { return n.ID == id })
	}
	maps.DeleteFunc(x.refused, func(id headcount.NodeID, _ bool) bool { return absent(id) })
	x.leaves.forget(absent)
}

// Depart takes this node and its snapshots out of the store, so that its viewers
// leave the count at once. It is for a node that drains.
func (x *Exchange) Depart(ctx context.Context) error {
	return x.opts.Store.Depart(ctx, x.opts.Self)
}

// Alone reports whether no other node was registered at the last Sync. All the
// truth is in the local window then, if Holds is false.
func (x *Exchange) Alone() bool { return x.alone.Load() }

// Holds reports whether the registry could not be believed at the last Sync. The
// last good counts are better than any made now.
func (x *Exchange) Holds() bool { return x.holds.Load() }

// Owns reports whether this node merges a partition. Only the loop that calls
// Sync may ask.
func (x *Exchange) Owns(partition int) bool { return x.roster.Owns(partition) }
