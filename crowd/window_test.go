package crowd_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

// A viewer who falls silent is in the count for the whole window and out of it
// within two report intervals more; one who beats stays.
func TestSilenceEndsTheCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil) // window 30 s, report interval 2 s
		beat(c, "p", "silent")
		for second := range 41 {
			if second%10 == 0 {
				beat(c, "p", "lively")
			}
			switch {
			case second < 30:
				wantCount(t, c, "p", 2)
			case second >= 34:
				wantCount(t, c, "p", 1)
			}
			time.Sleep(time.Second)
		}
	})
}

// A crowd that came over ten seconds and falls silent leaves over ten seconds:
// the count falls smoothly, and never below zero.
func TestTheCountFallsSmoothly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		for i := range 1000 {
			beat(c, "p", fmt.Sprint("s", i))
			time.Sleep(10 * time.Millisecond)
		}
		last := int64(1000)
		for range 60 {
			got := c.Count(t.Context(), "p").Count
			if got > last || last-got > 250 || got < 0 {
				t.Errorf("the count went from %d to %d within a second", last, got)
			}
			last = got
			time.Sleep(time.Second)
		}
		if last != 0 {
			t.Errorf("%d viewers are left after a minute of silence", last)
		}
	})
}

// A viewer who comes back after the window counts again at once.
func TestALateBeatRejoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		beat(c, "p", "s")
		time.Sleep(40 * time.Second)
		wantCount(t, c, "p", 0)
		beat(c, "p", "s")
		wantCount(t, c, "p", 1)
	})
}

// A leave takes the session out whether the page is small or large, once however
// often it is said, harms no stranger, and the next beat undoes it.
func TestLeave(t *testing.T) {
	for _, viewers := range []int{1, 2, 20, 5000} {
		t.Run(fmt.Sprint(viewers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, nil)
				for i := range viewers {
					beat(c, "p", fmt.Sprint("s", i))
				}
				for range 3 {
					c.Leave("p", "s0")
					c.Leave("p", "stranger")
					c.Leave("q", "s0")
				}
				time.Sleep(3 * time.Second)
				wantCount(t, c, "p", int64(viewers-1))
				beat(c, "p", "s0")
				wantCount(t, c, "p", int64(viewers))
			})
		})
	}
}

// While the process is frozen no time passes for viewers: nobody is dropped, and
// each has as long to beat again as before.
func TestAFrozenProcessDropsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var frozen atomic.Int64
		c := start(t, func(o *crowd.Options) {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(frozen.Load())) }
		})
		beat(c, "p", "s")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		frozen.Store(int64(time.Hour))
		time.Sleep(8 * time.Second)
		wantCount(t, c, "p", 1)
		time.Sleep(6 * time.Second)
		wantCount(t, c, "p", 0)
	})
}

// Beyond a cap newcomers are turned away while those who are there go on, and
// there is room again when somebody left or fell silent.
func TestCaps(t *testing.T) {
	for name, limit := range map[string]func(*crowd.Options){
		"sessions": func(o *crowd.Options) { o.MaxSessions = 100 },
		"pages":    func(o *crowd.Options) { o.MaxPages = 100 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, limit)
				for i := range 100 {
					if !beat(c, fmt.Sprint("p", i), "s") {
						t.Fatalf("beat %d below the cap was turned away", i)
					}
				}
				if beat(c, "new", "s") {
					t.Error("a beat beyond the cap was let in")
				}
				if !beat(c, "p7", "s") {
					t.Error("a known session was turned away at the cap")
				}
				c.Leave("p8", "s")
				if !beat(c, "new", "s") {
					t.Error("there was no room although somebody left")
				}
				time.Sleep(34 * time.Second)
				if !beat(c, "newer", "s") {
					t.Error("there was no room although all fell silent")
				}
				wantCount(t, c, "new", 0)
			})
		})
	}
}

// A million beats of random sessions, on one page and on random pages, fill
// the caps and nothing else: the pages that were there keep their counts, and
// when the flood is over the memory comes back.
func TestFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	synctest.Test(t, func(t *testing.T) {
		c := start(t, func(o *crowd.Options) {
			o.MaxPages = 100_000
			o.MaxSessions = 500_000
		})
		regulars := func() {
			for i := range 1000 {
				if !beat(c, fmt.Sprint("known", i%10), fmt.Sprint("s", i)) {
					t.Fatal("a regular was turned away")
				}
			}
		}
		regulars()
		for i := range 400_000 {
			beat(c, "victim", fmt.Sprint("random", i))
		}
		for i := range 600_000 {
			beat(c, fmt.Sprint("random", i), "s")
		}
		regulars()
		for i := range 10 {
			wantCount(t, c, fmt.Sprint("known", i), 100)
		}
		time.Sleep(5 * time.Second) // what growing left behind goes with the next reports
		stats := c.Stats()
		if stats.Pages > 100_000 || stats.Sessions > 500_000 {
			t.Errorf("the caps did not hold: %d pages, %d sessions", stats.Pages, stats.Sessions)
		}
		if perSession := stats.WindowBytes / stats.Sessions; perSession > 60 {
			t.Errorf("the flood takes %d bytes a session", perSession)
		}
		for range 5 {
			time.Sleep(10 * time.Second)
			regulars()
		}
		for i := range 10 {
			wantCount(t, c, fmt.Sprint("known", i), 100)
		}
		after := c.Stats()
		if after.Pages != 10 || after.Sessions != 1000 {
			t.Errorf("after the flood %d pages and %d sessions are left, want 10 and 1000", after.Pages, after.Sessions)
		}
		if after.WindowBytes > stats.WindowBytes/2 {
			t.Errorf("the window takes %d bytes after the flood, %d in it", after.WindowBytes, stats.WindowBytes)
		}
	})
}

// Reading pages that nobody is on keeps nothing, and reading one that is known
// costs no allocation.
func TestReadsKeepNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		beat(c, "known", "s")
		before := c.Stats()
		for i := range 10_000 {
			c.Count(t.Context(), fmt.Sprint("unknown", i))
		}
		if after := c.Stats(); after != before {
			t.Errorf("10,000 reads left something: %+v, before %+v", after, before)
		}
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { c.Count(ctx, "known") }); n != 0 {
			t.Errorf("a read costs %v allocations", n)
		}
		if n := testing.AllocsPerRun(100, func() { beat(c, "known", "s") }); n != 0 {
			t.Errorf("a beat costs %v allocations", n)
		}
	})
}

// A batch is its beats: the good ones count, and it says how many they were.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, func(o *crowd.Options) { o.MaxSessions = 90 })
		var beats []crowd.Beat
		for i := range 100 {
			beats = append(beats, crowd.Beat{Page: "p", Session: fmt.Sprint("s", i)})
		}
		if got := c.BeatBatch(beats, crowd.Visitor{}); got != 90 {
			t.Errorf("%d of 100 beats were accepted with room for 90", got)
		}
		wantCount(t, c, "p", 90)
	})
}
