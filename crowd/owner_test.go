package crowd

import (
	"slices"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

func nodeIDs(n int) []headcount.NodeID {
	ids := make([]headcount.NodeID, n)
	for i := range ids {
		ids[i] = headcount.NodeID(mixed(i))
	}
	return ids
}

// Every node of a fleet names the same owner whatever order it knows the others
// in, and each owns about its share.
func TestOwnersAreAgreedOnAndShared(t *testing.T) {
	const partitions = 1024
	nodes := nodeIDs(8)
	shares := map[headcount.NodeID]int{}
	for p := range partitions {
		owner := ownerOf(p, nodes)
		shares[owner]++
		backwards := slices.Clone(nodes)
		slices.Reverse(backwards)
		if got := ownerOf(p, backwards); got != owner {
			t.Errorf("partition %d: owner %s in one order, %s in another", p, owner, got)
		}
	}
	for _, node := range nodes {
		if got, fair := shares[node], partitions/8; got < fair*2/3 || got > fair*3/2 {
			t.Errorf("node %s owns %d partitions, want about %d", node, got, fair)
		}
	}
}

// A node that comes takes partitions for itself and moves none between others.
func TestANewcomerMovesOnlyItsOwn(t *testing.T) {
	nodes := nodeIDs(6)
	moved := 0
	for p := range 1024 {
		before, after := ownerOf(p, nodes[:5]), ownerOf(p, nodes)
		if before != after {
			moved++
			if after != nodes[5] {
				t.Errorf("partition %d moved from %s to %s, which were there before", p, before, after)
			}
		}
	}
	if moved < 100 || moved > 250 {
		t.Errorf("%d of 1024 partitions moved, want about a sixth", moved)
	}
}

// One node that goes is believed. Two or more that are half of those seen lately,
// or a store that forgot this node and others, are not, until they are back or one
// freshness has passed.
func TestRosterHolds(t *testing.T) {
	const freshness = 6 * time.Second
	for _, tt := range []struct {
		name  string
		steps []rosterStep
	}{
		{"one of two others goes", []rosterStep{{0, true, 2, false}, {2, true, 1, false}, {4, true, 1, false}}},
		{"the only other goes", []rosterStep{{0, true, 1, false}, {2, true, 0, false}}},
		{"both others go at once", []rosterStep{{0, true, 2, false}, {2, true, 0, true}, {7, true, 0, true}, {9, true, 0, false}, {30, true, 0, false}}},
		{"both others go one after the other, slowly", []rosterStep{{0, true, 2, false}, {2, true, 1, false}, {10, true, 0, false}}},
		{"both others go within a freshness", []rosterStep{{0, true, 2, false}, {2, true, 1, false}, {4, true, 0, true}, {11, true, 0, false}}},
		{"two of five others go", []rosterStep{{0, true, 5, false}, {2, true, 3, false}}},
		{"two of four others go", []rosterStep{{0, true, 4, false}, {2, true, 2, true}}},
		{"they come back", []rosterStep{{0, true, 4, false}, {2, true, 0, true}, {3, true, 3, true}, {4, true, 4, false}}},
		{"the first announcement is no loss", []rosterStep{{0, false, 3, false}, {2, true, 3, false}}},
		{"the store forgot everybody", []rosterStep{{0, false, 1, false}, {2, false, 0, true}, {4, true, 0, true}, {6, true, 1, false}}},
		{"the store forgot everybody, and one never returns", []rosterStep{{0, false, 1, false}, {2, false, 0, true}, {7, true, 0, true}, {8, true, 0, false}}},
		{"only this node was forgotten", []rosterStep{{0, false, 3, false}, {20, false, 3, false}}},
		{"a node alone was forgotten", []rosterStep{{0, false, 0, false}, {20, false, 0, false}}},
	} {
		nodes := nodeIDs(10)
		r := NewRoster(nodes[9], 64, freshness)
		for i, step := range tt.steps {
			now := time.Unix(int64(step.at), 0)
			registered := []headcount.Node{{ID: nodes[9]}}
			for _, id := range nodes[:step.others] {
				registered = append(registered, headcount.Node{ID: id})
			}
			r.Observe(step.known, registered, now)
			if got := r.Holds(now); got != step.want {
				t.Errorf("%s, step %d: holds %v, want %v", tt.name, i, got, step.want)
			}
			if len(r.Others()) != step.others || r.Alone() != (step.others == 0) {
				t.Errorf("%s, step %d: others %v, alone %v, want %d others", tt.name, i, r.Others(), r.Alone(), step.others)
			}
		}
	}
}

type rosterStep struct {
	at     int // seconds
	known  bool
	others int
	want   bool
}

// A node that knows of nobody owns everything, and shares with whoever comes.
func TestRosterOwns(t *testing.T) {
	nodes := nodeIDs(2)
	a, b := NewRoster(nodes[0], 64, time.Second), NewRoster(nodes[1], 64, time.Second)
	for p := range 64 {
		if !a.Owns(p) || !b.Owns(p) {
			t.Fatalf("partition %d: a node that knows of nobody must own it", p)
		}
	}
	registered := []headcount.Node{{ID: nodes[0]}, {ID: nodes[1]}}
	a.Observe(true, registered, time.Unix(0, 0))
	b.Observe(true, registered, time.Unix(0, 0))
	for p := range 64 {
		if a.Owns(p) == b.Owns(p) {
			t.Errorf("partition %d: owned by both or neither", p)
		}
	}
}
