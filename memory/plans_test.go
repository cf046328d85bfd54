package memory_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
	"github.com/headcount-live/headcount/storetest"
)

// The store in this process does what every PlanStore does.
func TestPlans(t *testing.T) {
	storetest.Plans(t, func(*testing.T) headcount.PlanStore { return memory.NewPlans(time.Now) })
}

// A follower that fell further behind than the history reaches is told that any
// row may have changed, and then follows again.
func TestPlanFeedForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := memory.NewPlans(time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		var calls []string
		go p.FollowPlans(ctx, func(accounts []string, all bool) {
			calls = append(calls, fmt.Sprint(accounts, all))
			if len(calls) == 1 {
				for i := range 25_000 {
					put(t, p, fmt.Sprint(i))
				}
			}
		})
		synctest.Wait()
		put(t, p, "ann")
		synctest.Wait()
		cancel()
		synctest.Wait()
		if got, want := fmt.Sprint(calls), "[[] true [] true [ann] false]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// The row says when it was put, by the clock that was handed in.
func TestPlanUpdatedAt(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	p := memory.NewPlans(func() time.Time { return at })
	if got := put(t, p, "ann").UpdatedAt.String(); got != "2026-02-03T04:05:06.789Z" {
		t.Errorf("got %s", got)
	}
}

func put(t *testing.T, p *memory.Plans, account string) headcount.Plan {
	t.Helper()
	row, err := p.PutPlan(context.Background(), headcount.Plan{AccountID: account, Plan: "basic", Status: headcount.StatusActive})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func BenchmarkPlans(b *testing.B) { storetest.BenchmarkPlans(b, memory.NewPlans(time.Now)) }
