package gate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
)

// Config is what a Gate is made of. All fields are required.
type Config struct {
	Leases            headcount.LeaseStore
	Plans             *Plans
	Signer            *headcount.Signer
	Hasher            *headcount.Hasher
	TTL               time.Duration // of a lease; the one that Leases was made with
	HeartbeatInterval time.Duration // what players are told
	Logger            *slog.Logger
	Registerer        prometheus.Registerer
}

// Gate decides about streams. Its methods are safe for concurrent use; they
// block for as long as the lease store and the plans do, and every error they
// return is a [*headcount.Error].
type Gate struct {
	leases   headcount.LeaseStore
	plans    *Plans
	signer   *headcount.Signer
	hasher   *headcount.Hasher
	terms    Terms
	outage   outage
	metrics  *metrics
	renewals sync.Pool // of *headcount.RenewRequest, which would escape to the heap on every beat
	batches  sync.Pool // of *batch
}

// Terms are what a player is told with every answer that keeps it alive.
type Terms struct {
	TTL               time.Duration
	HeartbeatInterval time.Duration
}

// New returns a Gate. It panics if the registerer has the gate's metrics already.
func New(c Config) *Gate {
	return &Gate{
		leases:   c.Leases,
		plans:    c.Plans,
		signer:   c.Signer,
		hasher:   c.Hasher,
		terms:    Terms{TTL: c.TTL, HeartbeatInterval: c.HeartbeatInterval},
		outage:   outage{log: c.Logger},
		metrics:  newMetrics(c.Registerer),
		renewals: sync.Pool{New: func() any { return new(headcount.RenewRequest) }},
		batches:  sync.Pool{New: func() any { return new(batch) }},
	}
}

// Terms returns the lease TTL and the heartbeat interval. They never change.
func (g *Gate) Terms() Terms { return g.terms }

// failed returns the answer to a step that the store could not take, or may have
// taken without saying so.
func (g *Gate) failed(err error) error {
	if !errors.Is(err, context.Canceled) { // the caller went away: nobody's fault
		g.outage.failed(err)
	}
	return headcount.Unavailable(err)
}

// name gives leases the stream ids that their players hold. It never returns
// nil, so that an empty list is written as one.
func (g *Gate) name(account string, leases []headcount.Lease) []headcount.Lease {
	if leases == nil {
		return []headcount.Lease{}
	}
	for i := range leases {
		leases[i].StreamID = g.signer.StreamID(account, leases[i].ID)
	}
	return leases
}
