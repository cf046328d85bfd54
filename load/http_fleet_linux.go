package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"
)

// fleet is all workers of a run.
type fleet struct {
	config  HTTPConfig
	workers []*httpWorker
	clock   func() time.Duration
	unsent  int64 // in the last phase
}

// newFleet divides connections, accounts and sessions among n workers and
// connects.
func newFleet(c HTTPConfig, n int) (*fleet, error) {
	target, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	f := &fleet{config: c, clock: func() time.Duration { return time.Since(began) }}
	for i := range n {
		w, err := f.newWorker(target, i, n)
		if err != nil {
			f.close()
			return nil, err
		}
		f.workers = append(f.workers, w)
		if err := w.connect(); err != nil {
			f.close()
			return nil, fmt.Errorf("connecting to %s: %w; is the server running there?", c.URL, err)
		}
	}
	return f, nil
}

func (f *fleet) newWorker(target *url.URL, i, n int) (*httpWorker, error) {
	// share returns where the i-th of n parts of a whole begins, and its size.
	share := func(whole int) (first, size int) {
		first = whole * i / n
		return first, whole*(i+1)/n - first
	}
	_, conns := share(f.config.Connections)
	firstAccount, accounts := share(f.config.Accounts)
	firstSession, sessions := share(f.config.Sessions)
	poll, err := newPoller(conns)
	if err != nil {
		return nil, err
	}
	w := &httpWorker{
		config:    &f.config,
		address:   hostPort(target),
		clock:     f.clock,
		random:    rand.New(rand.NewPCG(f.config.Seed, uint64(i))),
		requests:  newRequests(target, f.config.Seed, f.config.Pages),
		people:    newPopulation(accounts),
		firstSlot: uint32(firstAccount * slotsPerAccount),
		sessions:  uint32(sessions),
		firstOne:  uint32(firstSession),
		poll:      poll,
	}
	for index := range conns {
		w.conns = append(w.conns, &connection{fd: -1, index: index})
	}
	return w, nil
}

// run drives one phase on all workers, of the configured mix or, for the fill,
// until every account plays and every session has been on its page.
func (f *fleet) run(ctx context.Context, phase string, length time.Duration) (elapsed time.Duration, err error) {
	began := f.clock()
	var paces []*pace
	group, ctx := errgroup.WithContext(ctx)
	for i, w := range f.workers {
		if phase == phaseFill {
			group.Go(func() error { return w.fill(ctx) })
			continue
		}
		p := &pace{start: began, end: began + length}
		if f.config.Rate > 0 {
			p.interval = float64(time.Second) * float64(len(f.workers)) / f.config.Rate
			p.start += time.Duration(p.interval * float64(i) / float64(len(f.workers)))
		}
		paces = append(paces, p)
		group.Go(func() error { return w.run(ctx, p, func() Kind { return f.config.Mix.pick(w.random) }) })
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = group.Wait()
	}()
	f.watch(phase, began, done)
	f.unsent = 0
	for _, p := range paces {
		f.unsent += p.overdue()
	}
	return f.clock() - began, err
}

// fill lets half of the devices press play, and each session look at its page.
func (w *httpWorker) fill(ctx context.Context) error {
	if w.config.Mix.streams() {
		p := &pace{limit: int64(len(w.people.streams) / slotsPerAccount)}
		if err := w.run(ctx, p, func() Kind { return Play }); err != nil {
			return err
		}
	}
	if !w.config.Mix.pages() {
		return nil
	}
	return w.run(ctx, &pace{limit: int64(w.sessions)}, func() Kind { return Beat })
}

// watch reports the progress once a second until done is closed.
func (f *fleet) watch(phase string, began time.Duration, done <-chan struct{}) {
	before := f.progress()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if f.config.Progress == nil {
			continue
		}
		now := f.progress()
		f.config.Progress(HTTPProgress{phase, f.clock() - began, now.Requests - before.Requests, now.Errors - before.Errors})
	}
}

// progress sums up what the workers have done since the start.
func (f *fleet) progress() (p HTTPProgress) {
	for _, w := range f.workers {
		p.Requests += w.answers.Load()
		p.Errors += w.errors.Load()
	}
	return p
}

func (f *fleet) report(elapsed time.Duration) *HTTPReport {
	var all [kinds]*tally
	for k := range all {
		all[k] = newTally()
		for _, w := range f.workers {
			all[k].merge(w.tallies[k])
		}
	}
	r := newHTTPReport(f.config, all, elapsed)
	r.Unsent, r.TotalRequests = f.unsent, f.progress().Requests
	return r
}

func (f *fleet) close() {
	for _, w := range f.workers {
		w.close()
	}
}

// hostPort returns where to connect.
func hostPort(target *url.URL) string {
	if target.Port() != "" {
		return target.Host
	}
	return net.JoinHostPort(target.Hostname(), "80")
}
