package memory_test

import (
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
	"github.com/headcount-live/headcount/storetest"
)

// The store in this process does what every CountStore does.
func TestCounts(t *testing.T) {
	storetest.Counts(t, func(*testing.T) storetest.CountStoreAt {
		now := time.Unix(0, 0)
		s := memory.NewCounts(storetest.CountFreshness, func() time.Time { return now })
		return storetest.CountStoreAt{CountStore: s, Advance: func(d time.Duration) { now = now.Add(d) }}
	})
}

// Nodes that never come back leave nothing behind: what lapsed is dropped as
// soon as anybody announces itself.
func TestCountsForgetsLapsedValues(t *testing.T) {
	now := time.Unix(0, 0)
	s := memory.NewCounts(time.Second, func() time.Time { return now })
	for i := range 100 {
		v := headcount.PartitionValue{Partition: i, Node: headcount.NodeID(i), Version: 1, Data: []byte("x")}
		s.Announce(t.Context(), headcount.Node{ID: v.Node})
		s.PutSnapshots(t.Context(), []headcount.PartitionValue{v})
		s.PublishCounts(t.Context(), []headcount.PartitionValue{v})
		now = now.Add(100 * time.Millisecond)
	}
	now = now.Add(time.Second)
	s.Announce(t.Context(), headcount.Node{ID: 1000})
	if got := s.Held(); got != 1 {
		t.Errorf("got %d values held, want only the new node", got)
	}
}

func BenchmarkCounts(b *testing.B) {
	storetest.BenchmarkCounts(b, memory.NewCounts(time.Hour, time.Now))
}
