package crowd_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
	"github.com/headcount-live/headcount/memory"
)

// start runs a lone Crowd until the test ends. It must be called in a bubble.
func start(t *testing.T, change func(*crowd.Options)) *crowd.Crowd {
	t.Helper()
	opts := crowd.Options{
		Store:  memory.NewCounts(6*time.Second, time.Now),
		Hasher: headcount.NewHasher([]byte("key")),
	}
	if change != nil {
		change(&opts)
	}
	c, err := crowd.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	return c
}

// run reports until the test ends.
func run(t *testing.T, c *crowd.Crowd) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	synctest.Wait()
}

func beat(c *crowd.Crowd, page, session string) bool {
	return c.Beat(page, session, crowd.Visitor{})
}

func wantCount(t *testing.T, c *crowd.Crowd, page string, want int64) {
	t.Helper()
	if got := c.Count(t.Context(), page); got.Degraded || got.Count != want {
		t.Errorf("count of %s: got %+v, want %d", page, got, want)
	}
}

// A session counts once, however often it beats, on every page it is on.
func TestOneSessionCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		for i := range 23 {
			for range 3 {
				beat(c, "a", fmt.Sprint("s", i))
			}
		}
		beat(c, "b", "s1")
		wantCount(t, c, "a", 23)
		wantCount(t, c, "b", 1)
		wantCount(t, c, "c", 0)
	})
}
