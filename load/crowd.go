package load

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
	"github.com/headcount-live/headcount/memory"
)

// CrowdConfig says how many people a crowd benchmark puts on how many pages.
type CrowdConfig struct {
	Pages    int
	Sessions int
	Duration time.Duration // of each of the measured phases
}

// Check reports what is wrong with the config, or nil.
func (c CrowdConfig) Check() error {
	switch {
	case c.Pages < 2:
		return errors.New("pages must be 2 or more")
	case c.Sessions < c.Pages:
		return errors.New("sessions must be as many as pages or more")
	case c.Duration <= 0:
		return errors.New("duration must be above zero")
	}
	return nil
}

// CrowdReport is what a crowd benchmark found.
type CrowdReport struct {
	Pages            int64   `json:"pages"`
	Sessions         int64   `json:"sessions"`
	BytesPerSession  float64 `json:"bytes_per_session"` // resident memory of the whole process
	BeatsPerSec      int64   `json:"beats_per_sec"`
	BeatsBatchPerSec int64   `json:"beats_batch_per_sec"`
	BeatP50          int64   `json:"beat_p50_ns"`
	BeatP999         int64   `json:"beat_p999_ns"`
	BeatMax          int64   `json:"beat_max_ns"`
	CountsPerSec     int64   `json:"counts_per_sec"`
	ReportMS         float64 `json:"report_ms"`         // a whole report while nobody beats, the best of four
	ReportLeavingMS  float64 `json:"report_leaving_ms"` // the longest one while all fall silent
	GrowMax          int64   `json:"grow_max_ns"`       // longest beat while the crowd gathers
	LeavingMax       int64   `json:"leaving_max_ns"`    // longest beat while all others fall silent
	GCPauseMax       int64   `json:"gc_pause_max_ns"`
	Cores            int     `json:"cores"`
	// BeatCores is how many cores' worth of time the process got while it beat one
	// at a time. On a machine with other work it is less than Cores, and the rates
	// are less for it.
	BeatCores float64 `json:"beat_cores"`
}

// crowdBench is one run of the benchmark.
type crowdBench struct {
	config  CrowdConfig
	crowd   *crowd.Crowd
	people  people
	workers int
	ahead   atomic.Int64 // what the crowd's clock is ahead of the real one, in ns
	report  CrowdReport
}

// benchWindow is long enough that nobody falls silent by the way.
const (
	benchWindow    = time.Hour
	reportInterval = 2 * time.Second
)

// RunCrowd measures a lone crowd in this process: it gathers the sessions, beats
// for them one at a time and in batches, reads, and at last lets all fall silent.
// Ids are derived, not stored, so that the resident memory is the crowd's own.
func RunCrowd(ctx context.Context, config CrowdConfig) (CrowdReport, error) {
	if err := config.Check(); err != nil {
		return CrowdReport{}, err
	}
	b := &crowdBench{
		config:  config,
		people:  people{pages: uint64(config.Pages), sessions: uint64(config.Sessions)},
		workers: runtime.GOMAXPROCS(0),
	}
	now := func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }
	var err error
	b.crowd, err = crowd.New(crowd.Options{
		Store:          memory.NewCounts(crowd.Freshness(reportInterval), now),
		Hasher:         headcount.NewHasher([]byte("bench")),
		Window:         benchWindow,
		ReportInterval: reportInterval,
		MaxPages:       config.Pages,
		MaxSessions:    config.Sessions,
		Now:            now,
	})
	if err != nil {
		return CrowdReport{}, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- b.crowd.Run(running) }()
	b.measure(ctx)
	stop()
	return b.report, errors.Join(ctx.Err(), <-done)
}

// measure runs the phases one after the other.
func (b *crowdBench) measure(ctx context.Context) {
	b.report.Cores = runtime.NumCPU()
	b.report.GrowMax = b.gather(ctx)
	stats := b.crowd.Stats()
	b.report.Pages, b.report.Sessions = stats.Pages, stats.Sessions
	debug.FreeOSMemory() // what the set-up left behind is not the crowd's
	b.report.BytesPerSession = float64(residentBytes()) / float64(stats.Sessions)

	busy, began := processorTime(), time.Now()
	b.report.BeatsPerSec = b.rate(ctx, b.beatOne)
	b.report.BeatCores = (processorTime() - busy).Seconds() / time.Since(began).Seconds()
	b.report.BeatsBatchPerSec = b.rate(ctx, b.beatBatch)
	b.report.CountsPerSec = b.rate(ctx, b.countOne)
	b.timeBeats(ctx)
	b.report.ReportMS = b.idleReport()
	b.silence(ctx)
	b.report.GCPauseMax = gcPauseMax()
}

// gather beats once for everybody, on all cores, and returns the longest beat.
func (b *crowdBench) gather(ctx context.Context) (longest int64) {
	var most atomic.Int64
	b.each(func(worker int) {
		p := newPerson()
		for i := worker; i < b.config.Sessions && ctx.Err() == nil; i += b.workers {
			page, session := p.ids(b.people, uint64(i))
			began := time.Now()
			b.crowd.Beat(page, session, crowd.Visitor{})
			raise(&most, time.Since(began).Nanoseconds())
		}
	})
	return most.Load()
}

// rate returns how often step gets something done a second, on all cores.
func (b *crowdBench) rate(ctx context.Context, step func(*person, *draw) int) int64 {
	var total atomic.Int64
	began := time.Now()
	b.each(func(worker int) {
		p, d, n := newPerson(), newDraw(worker), 0
		for ctx.Err() == nil && time.Since(began) < b.config.Duration {
			for range 16 {
				n += step(p, d)
			}
		}
		total.Add(int64(n))
	})
	return int64(float64(total.Load()) / time.Since(began).Seconds())
}

func (b *crowdBench) beatOne(p *person, d *draw) int {
	for range 16 {
		page, session := p.ids(b.people, d.next()%b.people.sessions)
		b.crowd.Beat(page, session, crowd.Visitor{})
	}
	return 16
}

func (b *crowdBench) beatBatch(p *person, d *draw) int {
	return b.crowd.BeatBatch(p.batch(b.people, d), crowd.Visitor{})
}

func (b *crowdBench) countOne(p *person, d *draw) int {
	for range 16 {
		page, _ := p.ids(b.people, d.next()%b.people.sessions)
		b.crowd.Count(context.Background(), page)
	}
	return 16
}

// timeBeats measures single beats while all cores beat.
func (b *crowdBench) timeBeats(ctx context.Context) {
	var mu sync.Mutex
	all := newBeatHistogram()
	began := time.Now()
	b.each(func(worker int) {
		p, d, hist := newPerson(), newDraw(worker), newBeatHistogram()
		for ctx.Err() == nil && time.Since(began) < b.config.Duration {
			for range 256 {
				page, session := p.ids(b.people, d.next()%b.people.sessions)
				at := time.Now()
				b.crowd.Beat(page, session, crowd.Visitor{})
				_ = hist.RecordValue(min(time.Since(at).Nanoseconds(), int64(longest)))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all.Merge(hist)
	})
	b.report.BeatP50 = all.ValueAtQuantile(50)
	b.report.BeatP999 = all.ValueAtQuantile(99.9)
	b.report.BeatMax = all.Max()
}

// newBeatHistogram resolves nanoseconds, which [Latencies] does not.
func newBeatHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(longest), 3)
}

// idleReport returns what a report takes when no beats compete with it.
func (b *crowdBench) idleReport() float64 {
	best := time.Duration(1<<63 - 1)
	for range 4 {
		time.Sleep(reportInterval)
		best = min(best, b.crowd.Stats().LastReport)
	}
	return milliseconds(best)
}

// silence lets the window run out for all but one in a thousand, who go on, and
// waits until the crowd is down to them.
func (b *crowdBench) silence(ctx context.Context) {
	const step = 4 * time.Second // longer ones are taken for a frozen process
	for range benchWindow / step {
		b.ahead.Add(int64(step))
		b.crowd.Count(ctx, "")
	}
	stay := min(max(b.config.Sessions/1000, 1), b.config.Sessions)
	var most atomic.Int64
	var longestReport time.Duration
	p := newPerson()
	for b.crowd.Stats().Sessions > int64(stay) && ctx.Err() == nil {
		for i := range stay {
			page, session := p.ids(b.people, uint64(i))
			began := time.Now()
			b.crowd.Beat(page, session, crowd.Visitor{})
			raise(&most, time.Since(began).Nanoseconds())
		}
		longestReport = max(longestReport, b.crowd.Stats().LastReport)
	}
	for range 3 { // the report that finished the work may not be told yet
		time.Sleep(time.Second)
		longestReport = max(longestReport, b.crowd.Stats().LastReport)
	}
	b.report.LeavingMax = most.Load()
	b.report.ReportLeavingMS = milliseconds(longestReport)
}

// each runs work on every core and waits for all.
func (b *crowdBench) each(work func(worker int)) {
	var group sync.WaitGroup
	for worker := range b.workers {
		group.Go(func() { work(worker) })
	}
	group.Wait()
}

func raise(most *atomic.Int64, value int64) {
	for {
		old := most.Load()
		if value <= old || most.CompareAndSwap(old, value) {
			return
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// gcPauseMax returns the longest of the last 256 pauses of the garbage collector.
func gcPauseMax() int64 {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	most := time.Duration(0)
	for _, pause := range stats.Pause {
		most = max(most, pause)
	}
	return most.Nanoseconds()
}
