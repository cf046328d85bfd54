package gate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// A warm account asks the store nothing and costs no allocation, whether it has
// a row or plays on the default plan.
func TestPlansWarm(t *testing.T) {
	s := newBrittle()
	p, _ := newPlans(t, s)
	s.store(t, "ann", "premium", headcount.StatusPaused)
	wantEntitled(t, p, "ann", gate.Entitlement{Plan: "premium", Limit: 4, Status: headcount.StatusPaused})
	wantEntitled(t, p, "ben", gate.Entitlement{Plan: "standard", Limit: 2, Status: headcount.StatusActive})
	if got := len(s.queries()); got != 2 {
		t.Fatalf("%d queries for two cold accounts", got)
	}
	for _, account := range []string{"ann", "ben"} {
		if n := testing.AllocsPerRun(1000, func() { p.Entitlement(t.Context(), account) }); n != 0 {
			t.Errorf("%s: %v allocations for a warm account, want 0", account, n)
		}
	}
	if got := len(s.queries()); got != 2 {
		t.Errorf("%d queries after the accounts were warm, want 2", got)
	}
}

// A row's own limit wins over the catalogue, and a plan that has left the
// catalogue counts as the largest.
func TestPlansLimits(t *testing.T) {
	s := newBrittle()
	p, _ := newPlans(t, s)
	zero := 0
	for _, tt := range []struct {
		row  headcount.Plan
		want int
	}{
		{headcount.Plan{AccountID: "a", Plan: "basic"}, 1},
		{headcount.Plan{AccountID: "b", Plan: "basic", MaxStreams: &zero}, 0},
		{headcount.Plan{AccountID: "c", Plan: "gone"}, 4},
	} {
		tt.row.Status = headcount.StatusActive
		if _, err := s.PutPlan(t.Context(), tt.row); err != nil {
			t.Fatal(err)
		}
		wantEntitled(t, p, tt.row.AccountID, gate.Entitlement{Plan: tt.row.Plan, Limit: tt.want, Status: headcount.StatusActive})
	}
}

// All accounts that miss while a query is under way go together into the next
// one, each once, however many ask for it.
func TestPlansMissesShareOneQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, _ := newPlans(t, s)
		s.slow(10 * time.Millisecond)
		go p.Entitlement(t.Context(), "first")
		synctest.Wait()
		var wg sync.WaitGroup
		for i := range 2000 {
			wg.Go(func() {
				if got := p.Entitlement(t.Context(), fmt.Sprint(i%500)); got.Plan != "standard" || got.Degraded {
					t.Errorf("got %+v", got)
				}
			})
		}
		wg.Wait()
		if got := fmt.Sprint(s.queries()); got != "[1 500]" {
			t.Errorf("queries of %s accounts, want [1 500]", got)
		}
	})
}

// While the store fails, the last value known serves and an unknown account gets
// the largest plan; neither is kept as the truth, and the log tells each turn once.
func TestPlansStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, log := newPlans(t, s)
		s.store(t, "ann", "basic", headcount.StatusActive)
		s.store(t, "ben", "basic", headcount.StatusChurned)
		runFeed(t, p)
		wantEntitled(t, p, "ann", gate.Entitlement{Plan: "basic", Limit: 1, Status: headcount.StatusActive})

		s.store(t, "ann", "premium", headcount.StatusPaused) // the feed marks ann stale
		synctest.Wait()
		s.fail(errors.New("disk on fire"))
		for range 100 {
			wantEntitled(t, p, "ann", gate.Entitlement{Plan: "basic", Limit: 1, Status: headcount.StatusActive, Stale: true})
			wantEntitled(t, p, "ben", gate.Entitlement{Plan: "premium", Limit: 4, Status: headcount.StatusActive, Degraded: true})
			time.Sleep(100 * time.Millisecond)
		}
		s.fail(nil)
		time.Sleep(100 * time.Millisecond)
		wantEntitled(t, p, "ann", gate.Entitlement{Plan: "premium", Limit: 4, Status: headcount.StatusPaused})
		wantEntitled(t, p, "ben", gate.Entitlement{Plan: "basic", Limit: 1, Status: headcount.StatusChurned})
		wantPlanLog(t, log, "plans unavailable", "plans available again")
		if !strings.Contains(log.String(), "disk on fire") {
			t.Errorf("the log does not say why: %s", log)
		}
	})
}

// A frozen store delays the first play-starts by the timeout and no others, is
// asked one query at a time, and is noticed when it answers again.
func TestPlansStoreFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, log := newPlans(t, s)
		s.freeze()
		goroutines := runtime.NumGoroutine()
		var total time.Duration
		for i := range 3000 { // half a minute of cold accounts
			start := time.Now()
			if got := p.Entitlement(t.Context(), fmt.Sprint(i)); !got.Degraded || got.Limit != 4 {
				t.Fatalf("got %+v", got)
			}
			took := time.Since(start)
			if took > 50*time.Millisecond {
				t.Fatalf("account %d waited %v", i, took)
			}
			total += took
			time.Sleep(10 * time.Millisecond)
		}
		if mean := total / 3000; mean > 5*time.Millisecond {
			t.Errorf("a play-start waited %v on average, want hardly anything", mean)
		}
		if most := s.mostAtOnce(); most != 1 {
			t.Errorf("%d queries at once, want 1", most)
		}
		// The count is the whole process's, so it may differ by what others do.
		if grown := runtime.NumGoroutine() - goroutines; grown > 100 {
			t.Errorf("%d goroutines more than before: they pile up", grown)
		}
		s.thaw()
		time.Sleep(2 * time.Second)
		wantEntitled(t, p, "7", gate.Entitlement{Plan: "standard", Limit: 2, Status: headcount.StatusActive})
		wantPlanLog(t, log, "plans unavailable", "plans available again")
	})
}

// An answer that comes too late for the one who waited still warms the cache.
func TestPlansLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, log := newPlans(t, s)
		s.store(t, "ann", "basic", headcount.StatusActive)
		s.slow(80 * time.Millisecond)
		wantEntitled(t, p, "ann", gate.Entitlement{Plan: "premium", Limit: 4, Status: headcount.StatusActive, Degraded: true})
		time.Sleep(time.Second)
		wantEntitled(t, p, "ann", gate.Entitlement{Plan: "basic", Limit: 1, Status: headcount.StatusActive})
		if got := fmt.Sprint(s.queries()); got != "[1]" {
			t.Errorf("queries %s, want [1]", got)
		}
		wantPlanLog(t, log, "plans unavailable") // late answers do not make it available
	})
}

// A store that has just failed is left alone for a moment, whatever is asked.
func TestPlansStoreRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, _ := newPlans(t, s)
		s.fail(errors.New("connection refused"))
		for i := range 1000 {
			p.Entitlement(t.Context(), fmt.Sprint(i))
			time.Sleep(time.Millisecond)
		}
		if got := len(s.queries()); got < 9 || got > 11 {
			t.Errorf("%d queries in a second, want one every 100 ms", got)
		}
	})
}

// A caller that gave up, or only closed its half of the connection, gets the plan
// like any other: never that of an outage which there is not.
func TestPlansCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBrittle()
		p, log := newPlans(t, s)
		s.slow(30 * time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := p.Entitlement(ctx, "ann"); got.Degraded || got.Limit != 2 {
			t.Errorf("got %+v, want the default plan as it is", got)
		}
		time.Sleep(time.Second)
		wantPlanLog(t, log)
	})
}

// The cache stays within its bound, and forgets rather than refuses.
func TestPlansBounded(t *testing.T) {
	s := newBrittle()
	registry := prometheus.NewRegistry()
	p, err := gate.NewPlans(gate.PlansConfig{
		Store: s, Catalogue: headcount.DefaultCatalogue(), DefaultPlan: "standard", Timeout: time.Minute,
		MaxAccounts: 100, Registerer: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		wantEntitled(t, p, fmt.Sprint(i), gate.Entitlement{Plan: "standard", Limit: 2, Status: headcount.StatusActive})
	}
	for deadline := time.Now().Add(10 * time.Second); planMetric(t, registry, "headcount_plan_cache_accounts", "") > 100; {
		if time.Now().After(deadline) { // eviction is a goroutine of the cache's own
			t.Fatalf("%v accounts in memory, want at most 100", planMetric(t, registry, "headcount_plan_cache_accounts", ""))
		}
		runtime.Gosched()
	}
}

// Metrics count decisions by where the plan came from.
func TestPlansMetrics(t *testing.T) {
	s := newBrittle()
	registry := prometheus.NewRegistry()
	p, err := gate.NewPlans(gate.PlansConfig{Store: s, Catalogue: headcount.DefaultCatalogue(), DefaultPlan: "standard", Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p.Entitlement(t.Context(), "ann")
	}
	s.fail(errors.New("down"))
	p.Entitlement(t.Context(), "ben")
	for _, tt := range []struct {
		name, source string
		want         float64
	}{
		{"headcount_plan_cache_hits_total", "", 2},
		{"headcount_plan_cache_misses_total", "", 2},
		{"headcount_plan_decisions_total", "cache", 2},
		{"headcount_plan_decisions_total", "store", 1},
		{"headcount_plan_decisions_total", "last_known", 0},
		{"headcount_plan_decisions_total", "largest", 1},
		{"headcount_plan_degraded", "", 1},
	} {
		if got := planMetric(t, registry, tt.name, tt.source); got != tt.want {
			t.Errorf("%s{%s} is %v, want %v", tt.name, tt.source, got, tt.want)
		}
	}
	if _, err := gate.NewPlans(gate.PlansConfig{Store: s, Catalogue: headcount.DefaultCatalogue(), DefaultPlan: "standard", Registerer: registry}); err == nil {
		t.Error("a second cache on one registry must be an error")
	}
	if _, err := gate.NewPlans(gate.PlansConfig{Store: s, Catalogue: headcount.DefaultCatalogue(), DefaultPlan: "gold"}); err == nil {
		t.Error("a default plan that the catalogue does not know must be an error")
	}
}

func planMetric(t *testing.T, g prometheus.Gatherer, name, source string) float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && (source == "" || m.GetLabel()[0].GetValue() == source) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func newPlans(t *testing.T, s headcount.PlanStore) (*gate.Plans, *planLog) {
	t.Helper()
	log := &planLog{}
	p, err := gate.NewPlans(gate.PlansConfig{
		Store: s, Catalogue: headcount.DefaultCatalogue(), DefaultPlan: "standard",
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, log
}

// runFeed runs the feed until the test ends and waits until it has begun.
func runFeed(t *testing.T, p *gate.Plans) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
}

func wantEntitled(t *testing.T, p *gate.Plans, account string, want gate.Entitlement) {
	t.Helper()
	if got := p.Entitlement(t.Context(), account); got != want {
		t.Errorf("%s: got %+v, want %+v", account, got, want)
	}
}

// wantPlanLog wants the log to hold these messages, in order, and nothing else.
func wantPlanLog(t *testing.T, log *planLog, messages ...string) {
	t.Helper()
	lines := strings.FieldsFunc(log.String(), func(r rune) bool { return r == '\n' })
	if len(lines) != len(messages) {
		t.Fatalf("got %d log lines, want %q:\n%s", len(lines), messages, log)
	}
	for i, message := range messages {
		if !strings.Contains(lines[i], message) {
			t.Errorf("log line %d is %q, want %q", i, lines[i], message)
		}
	}
}

// planLog is a log that several goroutines write.
type planLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *planLog) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *planLog) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
