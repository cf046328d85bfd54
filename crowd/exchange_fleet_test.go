package crowd

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
)

const (
	fleetPartitions = 8
	fleetFreshness  = 6 * time.Second
	halfInterval    = time.Second
)

// fleet is several nodes over one store, moved on by steps of half a report
// interval. Windows have no time of their own here: who is in them is counted.
type fleet struct {
	t     *testing.T
	now   time.Time
	store fleetStore
	nodes []*fleetNode
	boots int
	steps int
}

// fleetStore is a store that can lose its memory, break, and count what travels.
type fleetStore struct {
	headcount.CountStore
	broken error
	bytes  int // of values, read and written
	calls  int
}

func (s *fleetStore) measure(values []headcount.PartitionValue, err error) ([]headcount.PartitionValue, error) {
	s.calls++
	for _, v := range values {
		s.bytes += len(v.Data)
	}
	return values, errors.Join(err, s.broken)
}

func (s *fleetStore) Announce(ctx context.Context, node headcount.Node) (bool, error) {
	if s.broken != nil {
		return false, s.broken
	}
	return s.CountStore.Announce(ctx, node)
}

func (s *fleetStore) PutSnapshots(ctx context.Context, values []headcount.PartitionValue) ([]int, error) {
	if _, err := s.measure(values, nil); err != nil {
		return nil, err
	}
	return s.CountStore.PutSnapshots(ctx, values)
}

func (s *fleetStore) PublishCounts(ctx context.Context, values []headcount.PartitionValue) ([]int, error) {
	if _, err := s.measure(values, nil); err != nil {
		return nil, err
	}
	return s.CountStore.PublishCounts(ctx, values)
}

func (s *fleetStore) Snapshots(ctx context.Context, asked []headcount.PartitionValue) ([]headcount.PartitionValue, error) {
	return s.measure(s.CountStore.Snapshots(ctx, asked))
}

func (s *fleetStore) Counts(ctx context.Context, asked []headcount.PartitionValue) ([]headcount.PartitionValue, error) {
	return s.measure(s.CountStore.Counts(ctx, asked))
}

type fleetNode struct {
	*Exchange
	window setWindow
	log    strings.Builder
}

func newFleet(t *testing.T, nodes int) *fleet {
	t.Helper()
	f := &fleet{t: t, now: time.Unix(0, 0)}
	f.loseMemory()
	for range nodes {
		f.join(1)
	}
	return f
}

func (f *fleet) clock() time.Time { return f.now }

func (f *fleet) loseMemory() { f.store.CountStore = memory.NewCounts(fleetFreshness, f.clock) }

// join adds a node under a hash key.
func (f *fleet) join(key uint64) *fleetNode { return f.joinAs(key, fleetPartitions) }

// joinAs adds a node under a hash key that divides pages into so many partitions.
func (f *fleet) joinAs(key uint64, partitions int) *fleetNode {
	f.boots++
	n := &fleetNode{window: setWindow{}}
	n.Exchange = NewExchange(ExchangeOptions{
		Store: &f.store, Self: headcount.NodeID(mixed(f.boots)), Local: n.window,
		Fingerprint: key, Partitions: partitions, ExactThreshold: 1000,
		Freshness: fleetFreshness, Now: f.clock,
		Logger: slog.New(slog.NewTextHandler(&n.log, nil)),
		Forget: func(page PageKey, session uint64) { delete(n.window[page], session) },
	})
	f.nodes = append(f.nodes, n)
	return n
}

// kill ends a node without a word.
func (f *fleet) kill(n *fleetNode) {
	for i, other := range f.nodes {
		if other == n {
			f.nodes = append(f.nodes[:i:i], f.nodes[i+1:]...)
		}
	}
}

// step lets every node do what its loop does in half a report interval.
func (f *fleet) step() {
	f.t.Helper()
	f.now = f.now.Add(halfInterval)
	f.steps++
	for _, n := range f.nodes {
		if err := n.round(f.steps%2 == 1); err != nil && f.store.broken == nil {
			f.t.Fatal(err)
		}
	}
}

func (n *fleetNode) round(report bool) error {
	ctx := context.Background()
	if err := n.Sync(ctx); err != nil {
		return err
	}
	var errs []error
	if report {
		errs = append(errs, n.Report(ctx))
	}
	errs = append(errs, n.Merge(ctx))
	var elsewhere []int
	for p := range n.opts.Partitions {
		if !n.Owns(p) {
			elsewhere = append(elsewhere, p)
		}
	}
	return errors.Join(append(errs, n.Fetch(ctx, elsewhere))...)
}

// settle gives the fleet the three report intervals that it may take.
func (f *fleet) settle() {
	f.t.Helper()
	for range 6 {
		f.step()
	}
}

// shows returns what a node knows of a page, -1 if nothing.
func (n *fleetNode) shows(page PageKey) int {
	known := n.Known(page.Partition(n.opts.Partitions))
	if known == nil {
		return -1
	}
	return known.Lookup(page).Count
}

// want fails unless every node shows exactly so many on a page.
func (f *fleet) want(moment string, page PageKey, want int) {
	f.t.Helper()
	for i, n := range f.nodes {
		if got := n.shows(page); got != want {
			f.t.Errorf("%s: node %d shows %d, want %d", moment, i, got, want)
		}
	}
}
