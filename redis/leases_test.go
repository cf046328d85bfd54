package redis_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/redis"
	"github.com/headcount-live/headcount/redis/redistest"
	"github.com/headcount-live/headcount/storetest"
)

var ctx = context.Background()

// The client of a Cluster lets go of old connections five seconds after a change of
// layout, in a goroutine that nothing waits for.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"),
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1")) // ends by itself within a second
}

func connect(t testing.TB, url string) rueidis.Client {
	t.Helper()
	c, err := redis.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// openLeases returns a store with its clock, over a connection of its own.
func openLeases(t testing.TB, url string) storetest.LeaseStoreAt {
	t.Helper()
	var skew atomic.Int64
	s, err := redis.NewLeases(ctx, redis.Options{
		Client: connect(t, url),
		TTL:    storetest.LeaseTTL,
		Offset: func() time.Duration { return time.Duration(skew.Load()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return storetest.LeaseStoreAt{LeaseStore: s, Advance: func(d time.Duration) { skew.Add(int64(d)) }}
}

func TestLeases(t *testing.T) {
	server := redistest.Start(t)
	storetest.Leases(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t, server.URL()) })
}

func TestLeasesModel(t *testing.T) {
	server := redistest.Start(t)
	storetest.LeasesModel(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t, server.URL()) })
}

func TestLeasesLinear(t *testing.T) {
	server := redistest.Start(t)
	storetest.LeasesLinear(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t, server.URL()) })
}

// A Cluster gives the same answers, whichever shard an account falls to.
func TestLeasesOnACluster(t *testing.T) {
	var hosts []string
	for _, n := range redistest.StartCluster(t, 3, 0) {
		hosts = append(hosts, n.Addr)
	}
	url := "redis://" + strings.Join(hosts, ",")
	storetest.Leases(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t, url) })
	storetest.LeasesLinear(t, func(t *testing.T) storetest.LeaseStoreAt { return openLeases(t, url) })
}

func BenchmarkLeases(b *testing.B) {
	server := redistest.Start(b)
	storetest.LeasesBench(b, func(b *testing.B) headcount.LeaseStore { return openLeases(b, server.URL()).LeaseStore })
}
