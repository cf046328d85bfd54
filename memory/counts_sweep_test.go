package memory

import (
	"context"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// Nodes that never come back leave nothing behind: what lapsed is dropped as
// soon as anybody announces itself.
func TestCountsForgetsLapsedValues(t *testing.T) {
	now := time.Unix(0, 0)
	s := NewCounts(time.Second, func() time.Time { return now })
	for i := range 100 {
		v := headcount.PartitionValue{Partition: i, Node: headcount.NodeID(i), Version: 1, Data: []byte("x")}
		announce(t, s, v.Node)
		for _, put := range []func(context.Context, []headcount.PartitionValue) ([]int, error){s.PutSnapshots, s.PublishCounts} {
			if _, err := put(t.Context(), []headcount.PartitionValue{v}); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(100 * time.Millisecond)
	}
	now = now.Add(time.Second)
	announce(t, s, 1000)
	if got := len(s.nodes) + len(s.snapshots) + len(s.counts); got != 1 {
		t.Errorf("got %d values held, want only the new node", got)
	}
}

func announce(t *testing.T, s *Counts, id headcount.NodeID) {
	t.Helper()
	if _, err := s.Announce(t.Context(), headcount.Node{ID: id}); err != nil {
		t.Fatal(err)
	}
}
