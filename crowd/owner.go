package crowd

import (
	"slices"
	"time"

	"github.com/headcount-live/headcount"
)

// ownerOf returns which of the nodes merges a partition: the one with the highest
// score (rendezvous hashing; Thaler and Ravishankar, 1998). All nodes that see
// the same registry agree without talking, and a node that comes or goes moves
// only the partitions that it takes or leaves.
func ownerOf(partition int, nodes []headcount.NodeID) headcount.NodeID {
	var owner headcount.NodeID
	best := uint64(0)
	for i, node := range nodes {
		s := score(partition, node)
		if i == 0 || s > best || s == best && node < owner {
			owner, best = node, s
		}
	}
	return owner
}

// score mixes a node and a partition with the finaliser of SplitMix64.
func score(partition int, node headcount.NodeID) uint64 {
	h := uint64(node) + uint64(partition+1)*0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Roster is what a node knows of its fleet: who is there, who owns what, and
// whether that can be believed. It is not safe for concurrent use.
type Roster struct {
	self      headcount.NodeID
	freshness time.Duration

	others    []headcount.NodeID // ascending, without self
	owners    []headcount.NodeID // by partition
	seen      map[headcount.NodeID]time.Time
	announced bool

	awaited   []headcount.NodeID // gone in a way that is not believed
	waitUntil time.Time
}

// NewRoster returns the roster of a node that has seen nobody yet and owns all
// partitions. Freshness is how long a value lives in the store.
func NewRoster(self headcount.NodeID, partitions int, freshness time.Duration) *Roster {
	r := &Roster{
		self:      self,
		freshness: freshness,
		owners:    make([]headcount.NodeID, partitions),
		seen:      map[headcount.NodeID]time.Time{},
	}
	r.assign()
	return r
}

// Observe takes in what the store answered at a moment: whether this node was
// registered already when it announced itself, and who is registered.
//
// One node that goes is believed at once. When two or more, and at least half of
// those seen within the last freshness, are gone, or when the store forgot this
// node and whom it saw last, the store is more likely at fault than they: the
// roster holds until they are back, for one freshness at most.
func (r *Roster) Observe(known bool, nodes []headcount.Node, now time.Time) {
	before := r.others
	r.others = nil
	for _, n := range nodes {
		if n.ID != r.self {
			r.others = append(r.others, n.ID)
			r.seen[n.ID] = now
		}
	}
	slices.Sort(r.others)
	r.assign()
	forgotten := r.announced && !known
	r.announced = true

	var gone []headcount.NodeID
	for node, at := range r.seen {
		if now.Sub(at) > r.freshness {
			delete(r.seen, node)
		} else if at.Before(now) {
			gone = append(gone, node)
		}
	}
	switch {
	case forgotten:
		r.await(before, now)
	case len(gone) >= 2 && len(gone) >= len(r.others) && !r.Holds(now):
		r.await(gone, now)
	}
}

func (r *Roster) await(nodes []headcount.NodeID, now time.Time) {
	r.awaited, r.waitUntil = nodes, now.Add(r.freshness)
}

func (r *Roster) assign() {
	all := append(slices.Clone(r.others), r.self)
	for p := range r.owners {
		r.owners[p] = ownerOf(p, all)
	}
}

// Holds reports whether the registry cannot be believed yet, so that this node
// must publish nothing and keep showing the last good counts.
func (r *Roster) Holds(now time.Time) bool {
	return now.Before(r.waitUntil) && slices.ContainsFunc(r.awaited, func(id headcount.NodeID) bool {
		return !slices.Contains(r.others, id)
	})
}

// Others returns the other registered nodes, ascending, until the next Observe.
func (r *Roster) Others() []headcount.NodeID { return r.others }

// Alone reports whether no other node is registered.
func (r *Roster) Alone() bool { return len(r.others) == 0 }

// Owns reports whether this node merges the partition.
func (r *Roster) Owns(partition int) bool { return r.owners[partition] == r.self }
