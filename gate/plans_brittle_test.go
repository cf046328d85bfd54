package gate_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
)

// brittlePlans is a plan store that can be slow, fail or freeze, and that counts
// its queries.
type brittlePlans struct {
	headcount.PlanStore

	mu           sync.Mutex
	delay        time.Duration
	err, feedErr error
	frozen       chan struct{}
	asked        []int         // accounts in each query
	active, most int           // queries at once
	put          func()        // see onPut
	feedFailed   chan struct{} // closed when feedErr changes
}

func newBrittle() *brittlePlans {
	return &brittlePlans{PlanStore: memory.NewPlans(time.Now), feedFailed: make(chan struct{})}
}

// Plans reads the rows first and is slow afterwards, as a query whose answer is
// old when it arrives.
func (s *brittlePlans) Plans(ctx context.Context, accounts []string) ([]headcount.Plan, error) {
	s.mu.Lock()
	s.asked = append(s.asked, len(accounts))
	s.active++
	s.most = max(s.most, s.active)
	delay, err, frozen := s.delay, s.err, s.frozen
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active--
	}()
	if err != nil {
		return nil, err
	}
	rows, err := s.PlanStore.Plans(ctx, accounts)
	if frozen != nil {
		select {
		case <-frozen:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return rows, err
}

// PutPlan stores the row and then runs what onPut asked for, before it returns.
func (s *brittlePlans) PutPlan(ctx context.Context, row headcount.Plan) (headcount.Plan, error) {
	s.mu.Lock()
	err, hook := s.err, s.put
	s.put = nil
	s.mu.Unlock()
	if err != nil {
		return headcount.Plan{}, err
	}
	row, err = s.PlanStore.PutPlan(ctx, row)
	if hook != nil {
		hook()
	}
	return row, err
}

// FollowPlans ends with the error that failFeed was given, as long as there is one.
func (s *brittlePlans) FollowPlans(ctx context.Context, changed func([]string, bool)) error {
	s.mu.Lock()
	err, failed := s.feedErr, s.feedFailed
	s.mu.Unlock()
	if err != nil {
		return err
	}
	follow, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-failed:
			cancel()
		case <-follow.Done():
		}
	}()
	err = s.PlanStore.FollowPlans(follow, changed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feedErr != nil {
		return s.feedErr
	}
	return err
}

func (s *brittlePlans) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *brittlePlans) failFeed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feedErr = err
	close(s.feedFailed)
	s.feedFailed = make(chan struct{})
}

func (s *brittlePlans) slow(delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = delay
}

func (s *brittlePlans) freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = make(chan struct{})
}

func (s *brittlePlans) thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.frozen)
	s.frozen = nil
}

// onPut runs f once, when a row is stored and the write has not yet returned.
func (s *brittlePlans) onPut(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put = f
}

func (s *brittlePlans) queries() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *brittlePlans) mostAtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// store writes a row as another node would: this one learns of it by the feed.
func (s *brittlePlans) store(t *testing.T, account, plan string, status headcount.Status) {
	t.Helper()
	row := headcount.Plan{AccountID: account, Plan: plan, Status: status}
	if _, err := s.PlanStore.PutPlan(context.Background(), row); err != nil {
		t.Fatal(err)
	}
}

// loseHistory gives the account the premium plan in an import of more rows than
// the store's feed remembers.
func (s *brittlePlans) loseHistory(t *testing.T, account string) {
	t.Helper()
	if _, err := s.ImportPlans(context.Background(), func(yield func(headcount.Plan, error) bool) {
		row := headcount.Plan{AccountID: account, Plan: "premium", Status: headcount.StatusActive}
		for i := 0; i < 30_000 && yield(row, nil); i++ {
			row.AccountID = fmt.Sprint("new-", i)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
