package memory_test

import (
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
	"github.com/headcount-live/headcount/storetest"
)

func openLeases(t testing.TB) storetest.LeaseStoreAt {
	t.Helper()
	var skew atomic.Int64
	s, err := memory.NewLeases(memory.LeaseOptions{
		TTL:  storetest.LeaseTTL,
		Rand: rand.Reader,
		Skew: func() time.Duration { return time.Duration(skew.Load()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return storetest.LeaseStoreAt{LeaseStore: s, Advance: func(d time.Duration) { skew.Add(int64(d)) }}
}

func TestLeases(t *testing.T) {
	storetest.Leases(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t) })
}

func TestLeasesModel(t *testing.T) {
	storetest.LeasesModel(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t) })
}

func TestLeasesLinear(t *testing.T) {
	storetest.LeasesLinear(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t) })
}

func BenchmarkLeases(b *testing.B) {
	storetest.LeasesBench(b, func(b *testing.B) headcount.LeaseStore { return openLeases(b).LeaseStore })
}
