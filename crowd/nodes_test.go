package crowd_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
	"github.com/headcount-live/headcount/memory"
)

// fleet runs several nodes on one store until the test ends, and waits until they
// know each other. It must be called in a bubble.
func fleet(t *testing.T, store headcount.CountStore, nodes int) []*crowd.Crowd {
	t.Helper()
	all := make([]*crowd.Crowd, nodes)
	for i := range all {
		all[i] = start(t, func(o *crowd.Options) { o.Store = store })
	}
	time.Sleep(10 * time.Second)
	return all
}

func sharedCounts() *memory.Counts { return memory.NewCounts(6*time.Second, time.Now) }

// A session that several nodes hear counts once; all nodes tell the same number,
// also one that hears nobody; and a leave works wherever it arrives.
func TestFleetTellsOneNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := fleet(t, sharedCounts(), 3)
		for i := range 300 {
			beat(nodes[0], "p", fmt.Sprint("s", i))
			beat(nodes[1], "p", fmt.Sprint("s", i+200))
		}
		time.Sleep(6 * time.Second)
		for _, c := range nodes {
			wantCount(t, c, "p", 500)
		}
		nodes[2].Leave("p", "s0")   // which node 0 holds
		nodes[1].Leave("p", "s499") // which it holds itself
		time.Sleep(6 * time.Second)
		for _, c := range nodes {
			wantCount(t, c, "p", 498)
		}
		time.Sleep(30 * time.Second) // window and three reports, less the twelve seconds above
		for _, c := range nodes {
			wantCount(t, c, "p", 0)
		}
	})
}

// A page that two nodes hear too much of for lists is counted through sketches:
// near the truth, and said to be so. As soon as one node hears all of it, it is
// exact again.
func TestFleetSketchesLargePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := fleet(t, sharedCounts(), 2)
		for i := range 4000 {
			beat(nodes[0], "p", fmt.Sprint("s", i))
			beat(nodes[1], "p", fmt.Sprint("s", i+2000))
			beat(nodes[0], "alone", fmt.Sprint("s", i))
		}
		time.Sleep(6 * time.Second)
		for _, c := range nodes {
			got := c.Count(t.Context(), "p")
			if !got.Approx || got.ErrorPct != crowd.ErrorPct || got.Count < 5760 || got.Count > 6240 {
				t.Errorf("of 6,000 viewers on two nodes got %+v", got)
			}
			if got := c.Count(t.Context(), "alone"); got.Approx || got.Count != 4000 {
				t.Errorf("of 4,000 viewers on one node got %+v", got)
			}
		}
	})
}

// A node that vanishes takes its viewers with it once its reports have lapsed; in
// the meantime nobody counts twice, although they beat elsewhere.
func TestFleetLosesANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sharedCounts()
		nodes := fleet(t, store, 2)
		var dead atomic.Bool
		victim, err := crowd.New(crowd.Options{
			Store:  mortal{store, &dead},
			Hasher: headcount.NewHasher([]byte("key")),
		})
		if err != nil {
			t.Fatal(err)
		}
		run(t, victim)
		time.Sleep(5 * time.Second)
		for i := range 100 {
			beat(victim, "p", fmt.Sprint("s", i))
			beat(nodes[0], "p", fmt.Sprint("s", i+50))
		}
		time.Sleep(6 * time.Second)
		wantCount(t, nodes[1], "p", 150)
		dead.Store(true)
		for i := range 50 {
			beat(nodes[1], "p", fmt.Sprint("s", i)) // half of its own come here, the others are here
		}
		for range 12 {
			wantCount(t, nodes[0], "p", 150)
			time.Sleep(time.Second)
		}
	})
}

// mortal is a store as a node sees it that can be cut off.
type mortal struct {
	headcount.CountStore
	dead *atomic.Bool
}

var errCut = errors.New("cut off")

func (m mortal) Announce(ctx context.Context, n headcount.Node) (bool, error) {
	if m.dead.Load() {
		return false, errCut
	}
	return m.CountStore.Announce(ctx, n)
}

func (m mortal) PutSnapshots(ctx context.Context, s []headcount.PartitionValue) ([]int, error) {
	if m.dead.Load() {
		return nil, errCut
	}
	return m.CountStore.PutSnapshots(ctx, s)
}

func (m mortal) PublishCounts(ctx context.Context, s []headcount.PartitionValue) ([]int, error) {
	if m.dead.Load() {
		return nil, errCut
	}
	return m.CountStore.PublishCounts(ctx, s)
}

func (m mortal) Counts(ctx context.Context, asked []headcount.PartitionValue) ([]headcount.PartitionValue, error) {
	if m.dead.Load() {
		return nil, errCut
	}
	return m.CountStore.Counts(ctx, asked)
}

func (m mortal) Snapshots(ctx context.Context, asked []headcount.PartitionValue) ([]headcount.PartitionValue, error) {
	if m.dead.Load() {
		return nil, errCut
	}
	return m.CountStore.Snapshots(ctx, asked)
}

// A node that lost its store tells the last good count, then none but whether the
// page is popular; its readers are told so; and it is right again afterwards.
func TestFleetLosesItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sharedCounts()
		var dead atomic.Bool
		c := fleet(t, mortal{store, &dead}, 2)[0]
		for i := range 30 {
			beat(c, "busy", fmt.Sprint("s", i))
		}
		beat(c, "calm", "s")
		time.Sleep(6 * time.Second)
		r := subscribe(t, c, "busy")
		wantTold(t, r, "at once", 30)
		dead.Store(true)
		time.Sleep(8 * time.Second)
		wantCount(t, c, "busy", 30)
		time.Sleep(8 * time.Second)
		for page, popular := range map[string]bool{"busy": true, "calm": false} {
			got := c.Count(t.Context(), page)
			if !got.Degraded || got.Popular != popular || got.Count != 0 {
				t.Errorf("%s: got %+v", page, got)
			}
		}
		if got, ok := r.Take(); !ok || !got.Degraded || !got.Popular {
			t.Errorf("the reader was told %+v, %v", got, ok)
		}
		for i := range 30 {
			beat(c, "busy", fmt.Sprint("s", i))
		}
		dead.Store(false)
		time.Sleep(10 * time.Second)
		wantCount(t, c, "busy", 30)
		wantTold(t, r, "when the store is back", 30)
	})
}

// The first read of a page on a node asks the store, once for all readers of that
// moment, and tells the truth.
func TestFirstReadAsksTheStoreOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowCounts{CountStore: sharedCounts()}
		nodes := fleet(t, store, 3)
		for _, page := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			beat(nodes[0], page, "s")
		}
		time.Sleep(6 * time.Second)
		for _, page := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			for _, c := range nodes {
				before := store.asked.Load()
				done := make(chan headcount.PageCount, 50)
				for range cap(done) {
					go func() { done <- c.Count(t.Context(), page) }()
				}
				for range cap(done) {
					if got := <-done; got.Count != 1 || got.Degraded {
						t.Errorf("%s: got %+v, want one viewer", page, got)
					}
				}
				if asked := store.asked.Load() - before; asked > 4 { // three of them may be the rounds of the three nodes
					t.Errorf("%s: 50 readers asked the store %d times", page, asked)
				}
			}
		}
	})
}

// slowCounts counts how often counts are read, and takes a moment for it.
type slowCounts struct {
	headcount.CountStore
	asked atomic.Int64
}

func (s *slowCounts) Counts(ctx context.Context, asked []headcount.PartitionValue) ([]headcount.PartitionValue, error) {
	s.asked.Add(1)
	time.Sleep(10 * time.Millisecond)
	return s.CountStore.Counts(ctx, asked)
}

// A reader on one node is told of viewers on another.
func TestFleetTellsReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := fleet(t, sharedCounts(), 3)
		r := subscribe(t, nodes[0], "p")
		for i := range 3 {
			synctest.Wait()
			told(r)
			beat(nodes[i], "p", fmt.Sprint("s", i))
			time.Sleep(6 * time.Second)
			wantTold(t, r, fmt.Sprint("after a viewer came to node ", i), int64(i+1))
		}
	})
}
