package memory_test

import (
	"testing"
	"time"

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

func BenchmarkCounts(b *testing.B) {
	storetest.BenchmarkCounts(b, memory.NewCounts(time.Hour, time.Now))
}
