package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// A follower that knows nothing is told that anything may have changed.
func planFeedBegins(t *testing.T, s headcount.PlanStore) {
	putPlans(t, s, planRow("ann", "basic", -1, headcount.StatusActive))
	f := follow(t, s)
	if got := f.next(t); !got.all {
		t.Errorf("got %+v, want all", got)
	}
}

// Puts and deletes arrive in the order in which they were done.
func planFeedOrder(t *testing.T, s headcount.PlanStore) {
	f := follow(t, s)
	f.next(t)
	var want []string
	for i := range 60 {
		id := fmt.Sprint("account-", i%7)
		putPlans(t, s, planRow(id, "basic", i, headcount.StatusActive))
		want = append(want, id)
		if i%5 == 4 {
			if _, err := s.DeletePlan(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			want = append(want, id)
		}
	}
	f.wantOrder(t, want)
}

// An import is told as the accounts it named or as all, once it can be read.
func planFeedImport(t *testing.T, s headcount.PlanStore) {
	f := follow(t, s)
	f.next(t)
	for _, n := range []int{3, 3_000} {
		missing := map[string]bool{}
		var rows []headcount.Plan
		for i := range n {
			row := planRow(fmt.Sprintf("account-%d-%d", n, i), "basic", -1, headcount.StatusActive)
			missing[row.AccountID] = true
			rows = append(rows, row)
		}
		importPlans(t, s, rows)
		for len(missing) > 0 {
			told := f.next(t)
			if told.all {
				clear(missing)
			}
			for _, account := range told.accounts {
				delete(missing, account)
			}
		}
		wantRows(t, s, []string{rows[n-1].AccountID}, rows[n-1])
	}
}

// A follower that comes back is told what changed while it was away, and only
// that; one whose history is lost would be told all.
func planFeedResumes(t *testing.T, s headcount.PlanStore) {
	f := follow(t, s)
	f.next(t)
	putPlans(t, s, planRow("ann", "basic", -1, headcount.StatusActive))
	f.wantOrder(t, []string{"ann"})
	f.stop(t)

	putPlans(t, s, planRow("ben", "basic", -1, headcount.StatusActive), planRow("cem", "basic", -1, headcount.StatusActive))
	f = follow(t, s)
	f.wantOrder(t, []string{"ben", "cem"})
}

type told struct {
	accounts []string
	all      bool
}

// follower is a running FollowPlans.
type follower struct {
	cancel context.CancelFunc
	done   chan error
	told   chan told
}

// follow starts a follower and stops it with the test.
func follow(t *testing.T, s headcount.PlanStore) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{cancel: cancel, done: make(chan error, 1), told: make(chan told, 1000)}
	go func() {
		f.done <- s.FollowPlans(ctx, func(accounts []string, all bool) {
			f.told <- told{slices.Clone(accounts), all}
		})
	}()
	stop := sync.OnceFunc(func() { f.stop(t) })
	t.Cleanup(stop)
	return f
}

// next waits for the next thing told. The wait only bounds a test that fails.
func (f *follower) next(t *testing.T) told {
	t.Helper()
	select {
	case got := <-f.told:
		return got
	case err := <-f.done:
		f.done <- err
		t.Fatalf("the feed ended: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the feed is silent")
	}
	return told{}
}

// wantOrder waits until the accounts were told, each at least where its change
// stands; neighbours may be told in one call.
func (f *follower) wantOrder(t *testing.T, want []string) {
	t.Helper()
	var got []string
	for len(got) < len(want) {
		next := f.next(t)
		if next.all {
			t.Fatalf("told all after %q, want only %q", got, want)
		}
		got = append(got, next.accounts...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// stop ends the follower and waits for it.
func (f *follower) stop(t *testing.T) {
	t.Helper()
	f.cancel()
	err := <-f.done
	f.done <- err
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an ended feed returned %v, want context.Canceled", err)
	}
}
