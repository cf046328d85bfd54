package crowd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
)

// Options says how a [Crowd] works. Store and Hasher are needed; the rest has
// defaults where it is zero.
type Options struct {
	Store  headcount.CountStore // what the nodes of a fleet share
	Hasher *headcount.Hasher    // must have one key on all nodes

	Node           headcount.NodeID // of this boot; random by default
	Window         time.Duration    // silence after which a viewer is gone; 30 s by default
	ReportInterval time.Duration    // how often counts are brought up to date; 2 s by default
	StaleAfter     time.Duration    // age at which a count is told no more; 10 s by default
	StoreTimeout   time.Duration    // longest wait of a read for the store; 25 ms by default

	ExactThreshold int // sessions that a node tells others one by one; 1,000 by default
	Partitions     int // the same on all nodes; 64 by default
	MaxPages       int // pages with viewers on this node; 4 million by default
	MaxSessions    int // viewers on this node; 20 million by default

	Filter     Filter                // who may count; everybody by default
	Rand       io.Reader             // crypto/rand by default
	Now        func() time.Time      // with a monotonic reading; time.Now by default
	Logger     *slog.Logger          // silent by default
	Registerer prometheus.Registerer // no metrics by default
}

// Limits of the options.
const (
	MaxPartitions = 4096
	maxWindow     = 24 * time.Hour
	// mostSessions keeps counts within what tables and tallies hold.
	mostSessions = 1 << 30
)

func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Window, 30*time.Second)
	setDefault(&o.ReportInterval, 2*time.Second)
	setDefault(&o.StaleAfter, 10*time.Second)
	setDefault(&o.StoreTimeout, 25*time.Millisecond)
	setDefault(&o.ExactThreshold, 1000)
	setDefault(&o.Partitions, 64)
	setDefault(&o.MaxPages, 4_000_000)
	setDefault(&o.MaxSessions, 20_000_000)
	if o.Filter == nil {
		o.Filter = Filters(nil)
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	return o, o.check()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *Options) check() error {
	switch {
	case o.Store == nil:
		return errors.New("crowd: a store of counts is needed; memory.NewCounts makes one for a single node")
	case o.Hasher == nil:
		return errors.New("crowd: a hasher is needed")
	case o.ReportInterval < 10*time.Millisecond:
		return fmt.Errorf("crowd: the report interval must be 10ms or more, not %v", o.ReportInterval)
	case o.Window < 2*o.ReportInterval || o.Window > maxWindow:
		return fmt.Errorf("crowd: the window must be at least twice the report interval (%v) and at most %v, not %v", o.ReportInterval, maxWindow, o.Window)
	case o.StaleAfter <= o.ReportInterval:
		return fmt.Errorf("crowd: counts must become stale later than one report interval (%v), not after %v", o.ReportInterval, o.StaleAfter)
	case o.StoreTimeout < 0:
		return fmt.Errorf("crowd: the store timeout must be above zero, not %v", o.StoreTimeout)
	case o.Partitions < 1 || o.Partitions > MaxPartitions:
		return fmt.Errorf("crowd: there must be 1 to %d partitions, not %d", MaxPartitions, o.Partitions)
	case o.ExactThreshold < 1:
		return fmt.Errorf("crowd: the exact threshold must be 1 or more, not %d", o.ExactThreshold)
	case o.MaxPages < 1 || o.MaxSessions < 1 || o.MaxSessions > mostSessions:
		return fmt.Errorf("crowd: the caps must be 1 or more, and sessions at most %d; they are %d pages and %d sessions", mostSessions, o.MaxPages, o.MaxSessions)
	}
	return nil
}

// Freshness returns how long a [headcount.CountStore] has to keep values for
// nodes with this report interval: three of them, and 2 s at least.
func Freshness(reportInterval time.Duration) time.Duration {
	return max(3*reportInterval, 2*time.Second)
}
