package crowd

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
)

// While people come, go and read from all sides, and reports and snapshots are
// made, no count is lost or doubled: at rest each page has those who stayed, and
// when they leave nothing is left.
func TestConcurrentCrowd(t *testing.T) {
	c, err := New(Options{
		Store:      memory.NewCounts(6*time.Second, time.Now),
		Hasher:     headcount.NewHasher([]byte("key")),
		Partitions: 2,
		StaleAfter: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	report := func() {
		if err := c.pass(t.Context(), true); err != nil {
			t.Error(err)
		}
	}
	report()
	const (
		people  = 4
		pages   = 50
		rounds  = 6
		perPage = 40
	)
	var working, watching sync.WaitGroup
	var done atomic.Bool
	for range 2 {
		watching.Go(func() {
			for !done.Load() {
				r := c.Subscribe(t.Context(), "p0", "p1", "p2")
				if got := c.Count(t.Context(), "p0").Count; got < 0 || got > people*perPage {
					t.Errorf("a count of %d", got)
				}
				r.Take()
				r.Close()
			}
		})
	}
	watching.Go(func() {
		for !done.Load() {
			report()
			if err := c.WriteSnapshot(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
	// Everybody's sessions are beaten by two at once, and every other one leaves
	// and comes back all the time.
	for who := range people * 2 {
		working.Go(func() {
			for round := range rounds {
				for i := range pages * perPage {
					page, session := fmt.Sprint("p", i%pages), fmt.Sprint("s", who/2, "-", i/pages)
					c.Beat(page, session, Visitor{})
					if (i+round)%2 == 0 {
						c.Leave(page, session)
						c.Beat(page, session, Visitor{})
					}
				}
			}
		})
	}
	working.Wait()
	done.Store(true)
	watching.Wait()

	for i := range pages {
		if got := c.Count(t.Context(), fmt.Sprint("p", i)).Count; got != people*perPage {
			t.Errorf("p%d has %d viewers, want %d", i, got, people*perPage)
		}
	}
	for who := range people {
		for i := range pages * perPage {
			c.Leave(fmt.Sprint("p", i%pages), fmt.Sprint("s", who, "-", i/pages))
		}
	}
	report()
	if got := c.Stats(); got.Pages != 0 || got.Sessions != 0 || got.Readers != 0 {
		t.Errorf("after all left there are %+v", got)
	}
}
