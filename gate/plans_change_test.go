package gate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// A change made elsewhere shows within five seconds, and so does the end of a row.
func TestPlansChangeShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, _ := newPlans(t, s)
		runFeed(t, p)
		wantPlan(t, p, "ann", "standard")
		s.store(t, "ann", "premium", headcount.StatusActive)
		time.Sleep(5 * time.Second)
		wantPlan(t, p, "ann", "premium")
		if _, err := s.DeletePlan(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		wantPlan(t, p, "ann", "standard")
	})
}

// History that was lost makes every account ask again, and a change of one
// account only that one.
func TestPlansChangeAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, _ := newPlans(t, s)
		runFeed(t, p)
		ask := func() {
			for i := range 10 {
				p.Entitlement(t.Context(), fmt.Sprint(i))
			}
		}
		ask()
		s.store(t, "3", "basic", headcount.StatusActive)
		s.store(t, "stranger", "basic", headcount.StatusActive)
		synctest.Wait()
		ask()
		if got := len(s.queries()); got != 11 {
			t.Errorf("%d queries, want 11: each account once and account 3 again", got)
		}
		s.loseHistory(t, "stranger")
		synctest.Wait()
		ask()
		if got := len(s.queries()); got != 21 {
			t.Errorf("%d queries, want 21: each account once more", got)
		}
	})
}

// A write through the cache shows before it returns, without a query, whatever
// the store does to the reads of others.
func TestPlansPutShowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, _ := newPlans(t, s)
		wantPlan(t, p, "ann", "standard")
		putPlan(t, p, "ann", "premium")
		wantPlan(t, p, "ann", "premium")
		putPlan(t, p, "ben", "basic") // cold until now
		wantPlan(t, p, "ben", "basic")
		for _, want := range []bool{true, false} {
			if had, err := p.Delete(t.Context(), "ann"); had != want || err != nil {
				t.Errorf("got %v, %v; want %v", had, err, want)
			}
			wantPlan(t, p, "ann", "standard")
		}
		if got := len(s.queries()); got != 1 {
			t.Errorf("%d queries, want the one before the first write", got)
		}
	})
}

// A row that cannot be is refused before the store is asked, and a write that
// failed leaves the account to be asked again, for it may have happened.
func TestPlansPutFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, _ := newPlans(t, s)
		wantPlan(t, p, "ann", "standard")
		_, err := p.Put(t.Context(), headcount.Plan{AccountID: "ann", Plan: "gold", Status: headcount.StatusActive})
		if headcount.ErrorCode(err) != headcount.CodeInvalidField {
			t.Errorf("a plan of no catalogue: %v", err)
		}
		wantPlan(t, p, "ann", "standard")
		if got := len(s.queries()); got != 1 {
			t.Errorf("%d queries, want 1", got)
		}

		cause := errors.New("connection lost after commit")
		s.store(t, "ann", "premium", headcount.StatusActive)
		s.fail(cause)
		_, err = p.Put(t.Context(), headcount.Plan{AccountID: "ann", Plan: "premium", Status: headcount.StatusActive})
		if headcount.ErrorCode(err) != headcount.CodeUnavailable || !errors.Is(err, cause) {
			t.Errorf("a store that fails: %v", err)
		}
		s.fail(nil)
		wantPlan(t, p, "ann", "premium")
	})
}

// An answer that was read before a change or a write and arrives after it is not
// kept, and nobody who asks after it waits for that answer.
func TestPlansOldAnswerIsNotKept(t *testing.T) {
	for _, tt := range []struct {
		name     string
		followed bool
		change   func(*testing.T, *brittlePlans, *gate.Plans)
	}{
		{"put here, the feed silent", false, func(t *testing.T, _ *brittlePlans, p *gate.Plans) {
			t.Helper()
			putPlan(t, p, "ann", "premium")
		}},
		{"put here", true, func(t *testing.T, _ *brittlePlans, p *gate.Plans) {
			t.Helper()
			putPlan(t, p, "ann", "premium")
		}},
		{"put elsewhere", true, func(t *testing.T, s *brittlePlans, _ *gate.Plans) {
			t.Helper()
			s.store(t, "ann", "premium", headcount.StatusActive)
		}},
		{"lost history", true, func(t *testing.T, s *brittlePlans, _ *gate.Plans) {
			t.Helper()
			s.loseHistory(t, "ann")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBrittle()
				p, _ := newPlans(t, s)
				if tt.followed {
					runFeed(t, p)
				}
				s.slow(20 * time.Millisecond)
				var early sync.WaitGroup
				early.Go(func() { p.Entitlement(t.Context(), "ann") }) // reads: no row
				synctest.Wait()
				tt.change(t, s, p)
				synctest.Wait() // the feed has told
				wantPlan(t, p, "ann", "premium")
				early.Wait()
				wantPlan(t, p, "ann", "premium")
				time.Sleep(time.Minute)
				wantPlan(t, p, "ann", "premium")
			})
		})
	}
}

// A write that returns after a later one of another node, or of this one, does
// not hide it.
func TestPlansOldWriteIsNotKept(t *testing.T) {
	for _, tt := range []struct {
		name     string
		followed bool
		later    func(*testing.T, *brittlePlans, *gate.Plans)
	}{
		{"of another node", true, func(t *testing.T, s *brittlePlans, _ *gate.Plans) {
			t.Helper()
			s.store(t, "ann", "premium", headcount.StatusActive)
		}},
		{"of another node, the feed just beginning", false, func(t *testing.T, s *brittlePlans, p *gate.Plans) {
			t.Helper()
			s.store(t, "ann", "premium", headcount.StatusActive)
			runFeed(t, p)
		}},
		{"of this node, the feed silent", false, func(t *testing.T, _ *brittlePlans, p *gate.Plans) {
			t.Helper()
			putPlan(t, p, "ann", "premium")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBrittle()
				p, _ := newPlans(t, s)
				if tt.followed {
					runFeed(t, p)
				}
				s.onPut(func() {
					tt.later(t, s, p)
					synctest.Wait() // the feed has told
				})
				putPlan(t, p, "ann", "basic")
				wantPlan(t, p, "ann", "premium")
			})
		})
	}
}

// A feed that fails is taken up again without losing what happened meanwhile, and
// the log tells each turn once.
func TestPlansFeedFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, log := newPlans(t, s)
		runFeed(t, p)
		wantPlan(t, p, "ann", "standard")
		s.failFeed(errors.New("server closed the connection"))
		synctest.Wait()
		s.store(t, "ann", "premium", headcount.StatusActive)
		time.Sleep(time.Minute)
		wantPlan(t, p, "ann", "standard") // nobody told
		wantPlanLog(t, log, "plan changes cannot be followed")
		s.failFeed(nil)
		time.Sleep(5 * time.Second)
		wantPlan(t, p, "ann", "premium")
		wantPlanLog(t, log, "plan changes cannot be followed", "plan changes are followed again")
	})
}

// Whatever order reads, writes, changes elsewhere and faults come in, five seconds
// after the last of them the truth shows.
func TestPlansModel(t *testing.T) {
	plans := []string{"basic", "standard", "premium"}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 199), 1, 60).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			s := newBrittle()
			p, _ := newPlans(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			var background sync.WaitGroup
			background.Go(func() { p.Run(ctx) })
			for _, step := range steps {
				account, what := fmt.Sprint(step%4), step/4
				switch plan := plans[what%3]; what / 3 {
				case 0, 1, 2:
					background.Go(func() { p.Entitlement(ctx, account) })
				case 3, 4:
					background.Go(func() {
						p.Put(ctx, headcount.Plan{AccountID: account, Plan: plan, Status: headcount.StatusActive})
					})
				case 5, 6:
					s.store(t, account, plan, headcount.StatusActive)
				case 7:
					p.Delete(ctx, account)
				case 8:
					s.fail(errors.New("down"))
				case 9:
					s.fail(nil)
				case 10:
					s.slow(time.Duration(what%3) * 40 * time.Millisecond)
				case 11:
					s.failFeed(errors.New("down"))
				case 12:
					s.failFeed(nil)
				default:
					time.Sleep(time.Duration(what) * time.Millisecond)
				}
				if what%2 == 0 {
					synctest.Wait()
				}
			}
			s.fail(nil)
			s.failFeed(nil)
			s.slow(0)
			time.Sleep(5 * time.Second)
			for account := range 4 {
				truth := "standard"
				rows, err := s.PlanStore.Plans(ctx, []string{fmt.Sprint(account)})
				if err != nil {
					t.Error(err)
				}
				if len(rows) == 1 {
					truth = rows[0].Plan
				}
				if got := p.Entitlement(ctx, fmt.Sprint(account)); got.Plan != truth || got.Stale || got.Degraded {
					t.Errorf("steps %v: account %d has %+v, want %s", steps, account, got, truth)
				}
			}
			cancel()
			background.Wait()
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

func putPlan(t *testing.T, p *gate.Plans, account, plan string) {
	t.Helper()
	if _, err := p.Put(t.Context(), headcount.Plan{AccountID: account, Plan: plan, Status: headcount.StatusActive}); err != nil {
		t.Fatal(err)
	}
}

func wantPlan(t *testing.T, p *gate.Plans, account, plan string) {
	t.Helper()
	limit := headcount.DefaultCatalogue()[plan]
	wantEntitled(t, p, account, gate.Entitlement{Plan: plan, Limit: limit, Status: headcount.StatusActive})
}
