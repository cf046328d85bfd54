package crowd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

// told returns what a reader was told since the last call, oldest first.
func told(r *crowd.Reader) (counts []int64) {
	for {
		count, ok := r.Take()
		if !ok {
			return counts
		}
		counts = append(counts, count.Count)
	}
}

func wantTold(t *testing.T, r *crowd.Reader, when string, want ...int64) {
	t.Helper()
	synctest.Wait()
	if got := told(r); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: the reader was told %v, want %v", when, got, want)
	}
}

// subscribe returns a reader that is closed with the test.
func subscribe(t *testing.T, c *crowd.Crowd, pages ...string) *crowd.Reader {
	t.Helper()
	r := c.Subscribe(t.Context(), pages...)
	t.Cleanup(r.Close)
	return r
}

// A reader is told the current count at once and then each change within a
// report, also the one that only silence made.
func TestReaderIsToldOfEveryViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		beat(c, "p", "a")
		r := subscribe(t, c, "p")
		wantTold(t, r, "at once", 1)
		time.Sleep(10 * time.Second)
		wantTold(t, r, "without a change")
		beat(c, "p", "a")
		beat(c, "p", "b")
		time.Sleep(2300 * time.Millisecond)
		wantTold(t, r, "after b came", 2)
		c.Leave("p", "b")
		time.Sleep(2300 * time.Millisecond)
		wantTold(t, r, "after b left", 1)
		time.Sleep(34 * time.Second)
		wantTold(t, r, "after a fell silent", 0)
	})
}

// Whatever happens on a page, a reader is told of it at most once a second, and of
// the state at that moment; when things calm down it has been told the last one.
func TestReaderIsToldOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, func(o *crowd.Options) { o.ReportInterval = 100 * time.Millisecond })
		r := subscribe(t, c, "p")
		wantTold(t, r, "at once", 0)
		times := 0
		for i := range 50 { // five seconds
			beat(c, "p", fmt.Sprint("s", i))
			time.Sleep(100 * time.Millisecond)
			times += len(told(r))
		}
		if times < 4 || times > 5 {
			t.Errorf("in five seconds of changes the reader was told %d times, want 4 or 5", times)
		}
		beat(c, "p", "t1")
		beat(c, "p", "t2")
		beat(c, "p", "t3")
		time.Sleep(2 * time.Second)
		wantTold(t, r, "at rest", 53)
	})
}

// A reader that does not take its counts finds only the newest, and holds nobody back.
func TestReaderMailboxHoldsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		lazy, eager := subscribe(t, c, "p"), subscribe(t, c, "p")
		wantTold(t, eager, "at once", 0)
		for i := range 5 {
			beat(c, "p", fmt.Sprint("s", i))
			time.Sleep(3 * time.Second)
			wantTold(t, eager, "as they come", int64(i+1))
		}
		wantTold(t, lazy, "at last", 5)
	})
}

// One reader of many pages hears of each, in its own slot, and a page named twice
// is one.
func TestReaderOfManyPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		beat(c, "b", "s")
		r := subscribe(t, c, "a", "b", "c", "b")
		var got []string
		for {
			count, ok := r.Take()
			if !ok {
				break
			}
			got = append(got, fmt.Sprintf("%s=%d", count.PageID, count.Count))
		}
		if fmt.Sprint(got) != "[a=0 b=1 c=0]" {
			t.Errorf("at once: got %v", got)
		}
		beat(c, "c", "s")
		next, err := r.Next(t.Context())
		if err != nil || next.PageID != "c" || next.Count != 1 {
			t.Errorf("got %+v, %v; want one viewer on c", next, err)
		}
	})
}

// Next ends with its context, and with the reader.
func TestReaderNextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		r := subscribe(t, c, "p")
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := r.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		time.AfterFunc(time.Minute, r.Close)
		if _, err := r.Next(t.Context()); !errors.Is(err, crowd.ErrReaderClosed) {
			t.Errorf("got %v, want ErrReaderClosed", err)
		}
		if got := c.Stats().Readers; got != 0 {
			t.Errorf("%d readers are left", got)
		}
	})
}

// Large pages are told of when it matters: 5 % of the count, or 2 % of it across
// the edge of a bucket.
func TestReaderOfALargePage(t *testing.T) {
	for _, tc := range []struct {
		from, to int
		told     bool
	}{
		{19, 20, true}, {20, 19, true}, {20, 21, true}, {25, 26, false}, // 21 is 5 % more than 20, 26 is 4 % more than 25
		{100, 104, false}, {100, 105, true},
		{108, 110, false}, {107, 110, true}, // 1.8 % and 2.8 %, both into the next bucket
		{111, 114, false}, // 2.7 % within a bucket
		{1000, 960, true}, {1000, 981, false}, {1000, 1019, false}, {1000, 1050, true},
		{5000, 4999, false}, {5000, 4899, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := start(t, nil)
			change(c, 0, tc.from)
			r := subscribe(t, c, "p")
			wantTold(t, r, "at once", int64(tc.from))
			change(c, tc.from, tc.to)
			time.Sleep(3 * time.Second)
			if got := len(told(r)) > 0; got != tc.told {
				t.Errorf("from %d to %d: told %v, want %v", tc.from, tc.to, got, tc.told)
			}
			wantCount(t, c, "p", int64(tc.to)) // a read shows it in any case
		})
	}
}

// change makes the viewers of p from so many so many.
func change(c *crowd.Crowd, from, to int) {
	for i := from; i < to; i++ {
		beat(c, "p", fmt.Sprint("s", i))
	}
	for i := to; i < from; i++ {
		c.Leave("p", fmt.Sprint("s", i))
	}
}
