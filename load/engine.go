package load

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
)

// EngineConfig says how many leases an engine benchmark keeps alive.
type EngineConfig struct {
	Leases   int           // two an account
	Duration time.Duration // of each of the three measured phases
}

// Check reports what is wrong with the config, or nil.
func (c EngineConfig) Check() error {
	switch {
	case c.Leases < 1000:
		return errors.New("leases must be 1000 or more")
	case c.Duration <= 0:
		return errors.New("duration must be above zero")
	}
	return nil
}

// EngineReport is what an engine benchmark found. Rates are of all cores together.
type EngineReport struct {
	Leases         int     `json:"leases"`
	BytesPerLease  float64 `json:"bytes_per_lease"` // resident memory of the whole process
	RenewPerSec    int64   `json:"renew_per_sec"`   // one at a time
	RenewBatchRate int64   `json:"renew_batch_per_sec"`
	RenewP50       int64   `json:"renew_p50_ns"` // one in 64 is timed, while all cores renew
	RenewP999      int64   `json:"renew_p999_ns"`
	AcquirePerSec  int64   `json:"acquire_per_sec"` // each with a release before it
	GrowMax        int64   `json:"grow_max_ns"`     // longest play-start while the tables grow
	GCPauseMax     int64   `json:"gc_pause_max_ns"`
	Cores          int     `json:"cores"`
	// RenewCores is how many cores' worth of time the process got while it renewed one
	// at a time. On a machine with other work it is less than Cores, and the rates are
	// less for it.
	RenewCores float64 `json:"renew_cores"`
}

// engineTTL is long enough that no lease lapses while a hundred million are filled in.
const engineTTL = time.Hour

// engineBench is one run of the benchmark.
type engineBench struct {
	config  EngineConfig
	engine  *memory.Leases
	hasher  *headcount.Hasher
	workers int
	failed  atomic.Int64 // operations that did not do what a live lease must allow
	report  EngineReport
}

// RunEngine fills a lease engine in this process, renews at random one at a time and
// in batches, then stops and plays at random. Ids are derived, not stored, so that
// the resident memory is the engine's own.
func RunEngine(ctx context.Context, config EngineConfig) (EngineReport, error) {
	if err := config.Check(); err != nil {
		return EngineReport{}, err
	}
	engine, err := memory.NewLeases(memory.LeaseOptions{TTL: engineTTL, Rand: rand.Reader})
	if err != nil {
		return EngineReport{}, err
	}
	defer engine.Close()
	b := &engineBench{
		config:  config,
		engine:  engine,
		hasher:  headcount.NewHasher([]byte("bench")),
		workers: runtime.GOMAXPROCS(0),
		report:  EngineReport{Leases: config.Leases, Cores: runtime.NumCPU()},
	}
	b.fill(ctx)
	debug.FreeOSMemory() // what filling left on the heap is not the engine's
	b.report.BytesPerLease = float64(residentBytes()) / float64(config.Leases)
	busy, began := processorTime(), time.Now()
	b.renewOnes(ctx)
	b.report.RenewCores = (processorTime() - busy).Seconds() / time.Since(began).Seconds()
	b.renewBatches(ctx)
	b.stopAndPlay(ctx)
	b.report.GCPauseMax = gcPauseMax()
	if n := b.failed.Load(); n > 0 {
		return b.report, fmt.Errorf("load: the engine refused %d plays and renewals that it should have taken", n)
	}
	return b.report, ctx.Err()
}

// fill plays every lease once, on all cores.
func (b *engineBench) fill(ctx context.Context) {
	var longest atomic.Int64
	b.each(func(worker int) {
		v := newViewer(b.hasher)
		for i := worker; i < b.config.Leases && ctx.Err() == nil; i += b.workers {
			play := v.play(uint64(i))
			began := time.Now()
			b.check(b.engine.Acquire(ctx, play))
			raise(&longest, time.Since(began).Nanoseconds())
		}
	})
	b.report.GrowMax = longest.Load()
}

const timedEach = 64

// renewOnes renews one lease at a time and times some of them.
func (b *engineBench) renewOnes(ctx context.Context) {
	var mu sync.Mutex
	all := newRenewHistogram()
	b.report.RenewPerSec = b.rate(ctx, func(worker int) (step func() int, done func()) {
		v, d, timed := newViewer(b.hasher), newDraw(worker), newRenewHistogram()
		step = func() int {
			for range timedEach - 1 {
				b.checkRenewal(b.engine.Renew(ctx, v.renewal(d.next()%uint64(b.config.Leases))))
			}
			one := v.renewal(d.next() % uint64(b.config.Leases))
			began := time.Now()
			result, err := b.engine.Renew(ctx, one)
			_ = timed.RecordValue(min(time.Since(began).Nanoseconds(), int64(longest)))
			b.checkRenewal(result, err)
			return timedEach
		}
		return step, func() {
			mu.Lock()
			defer mu.Unlock()
			all.Merge(timed)
		}
	})
	b.report.RenewP50, b.report.RenewP999 = all.ValueAtQuantile(50), all.ValueAtQuantile(99.9)
}

// renewBatches renews as many at a time as a gateway's call may carry.
func (b *engineBench) renewBatches(ctx context.Context) {
	const batch = 1000
	b.report.RenewBatchRate = b.rate(ctx, func(worker int) (step func() int, done func()) {
		v, d := newViewer(b.hasher), newDraw(worker)
		requests, results := make([]headcount.RenewRequest, batch), make([]headcount.RenewResult, batch)
		return func() int {
			for i := range requests {
				requests[i] = *v.renewal(d.next() % uint64(b.config.Leases))
			}
			b.engine.RenewBatch(ctx, requests, results)
			for i := range results {
				b.checkRenewal(results[i], results[i].Err)
			}
			return batch
		}, func() {}
	})
}

// stopAndPlay ends a lease and plays it again, each worker on leases of its own.
func (b *engineBench) stopAndPlay(ctx context.Context) {
	b.report.AcquirePerSec = b.rate(ctx, func(worker int) (step func() int, done func()) {
		v, d := newViewer(b.hasher), newDraw(worker)
		mine := uint64(b.config.Leases / b.workers)
		return func() int {
			play := v.play(d.next()%mine*uint64(b.workers) + uint64(worker))
			_, _ = b.engine.Release(ctx, play.Account, play.Lease)
			b.check(b.engine.Acquire(ctx, play))
			return 1
		}, func() {}
	})
}

func (b *engineBench) check(result headcount.AcquireResult, err error) {
	if err != nil || !result.Admitted {
		b.failed.Add(1)
	}
}

func (b *engineBench) checkRenewal(result headcount.RenewResult, err error) {
	if err != nil || result.State != headcount.RenewOK {
		b.failed.Add(1)
	}
}

// rate repeats the step of each worker for the duration and returns how much they got
// done a second together.
func (b *engineBench) rate(ctx context.Context, start func(worker int) (step func() int, done func())) int64 {
	var total atomic.Int64
	began := time.Now()
	b.each(func(worker int) {
		step, done := start(worker)
		defer done()
		n := 0
		for ctx.Err() == nil && time.Since(began) < b.config.Duration {
			for range 16 {
				n += step()
			}
		}
		total.Add(int64(n))
	})
	return int64(float64(total.Load()) / time.Since(began).Seconds())
}

// each runs work on every core and waits for all.
func (b *engineBench) each(work func(worker int)) {
	var group sync.WaitGroup
	for worker := range b.workers {
		group.Go(func() { work(worker) })
	}
	group.Wait()
}

// newRenewHistogram resolves nanoseconds.
func newRenewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(longest), 3) }
