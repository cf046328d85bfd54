package gate

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/maypok86/otter/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
)

// Entitlement is what an account may do, as far as this node knows.
type Entitlement struct {
	Plan   string
	Limit  int // streams at once
	Status headcount.Status
	// Stale says that the plan store could not be asked and the last value known serves.
	Stale bool
	// Degraded says that the plan store could not be asked and nothing was known:
	// the largest plan of the catalogue serves.
	Degraded bool
}

// PlansConfig is what [NewPlans] needs. Store, Catalogue and DefaultPlan are
// required, and the catalogue must know the default plan.
type PlansConfig struct {
	Store       headcount.PlanStore
	Catalogue   headcount.Catalogue
	DefaultPlan string                // of accounts without a row
	Timeout     time.Duration         // longest wait of a play-start for the store; 0 means 50 ms
	MaxAccounts int                   // accounts kept in memory, about 160 bytes each; 0 means a million
	Logger      *slog.Logger          // hears of the store failing and of it being back, once each; nil means none
	Registerer  prometheus.Registerer // nil means no metrics
}

// Plans answers what accounts may do. It keeps what it learned from the plan
// store in memory until [Plans.Run] hears of a change, because an account plays
// about once an hour and a cache of seconds would never hit. It is safe for
// concurrent use.
//
// A value in the cache is fresh or stale. Fresh ones serve without a lock. Stale
// ones (the feed said that the row may have changed) are asked for again, and
// serve while the store cannot answer.
//
//	absent --fetch--> fresh --change--> stale --fetch--> fresh
//
// What makes this right while fetches, writes and changes overlap: all writes to
// the cache happen under mu, and a change or a write that happens while a fetch
// is under way marks the fetch as overtaken, so that its answer, which may be
// older, is not kept.
type Plans struct {
	PlansConfig
	cache *otter.Cache[string, cachedPlan]
	era   atomic.Uint64 // a cached plan of another era is stale

	counts [sources]atomic.Uint64

	mu      sync.Mutex
	calls   map[string]*planCall // by account: the call that a new miss may join
	waiting []*planCall          // calls that go into the next query
	writing map[*planWrite]struct{}
	store   planHealth
}

// cachedPlan is an entitlement and the era in which it was learned; 0 is none.
type cachedPlan struct {
	Entitlement
	era uint64
}

// NewPlans returns an empty cache over a store. It starts no goroutine; run
// [Plans.Run] beside it, or changes made elsewhere never show.
func NewPlans(c PlansConfig) (*Plans, error) {
	if _, ok := c.Catalogue[c.DefaultPlan]; !ok {
		return nil, errors.New("gate: the default plan " + c.DefaultPlan + " is not in the catalogue")
	}
	c.Timeout = cmp.Or(c.Timeout, 50*time.Millisecond)
	c.MaxAccounts = cmp.Or(c.MaxAccounts, 1_000_000)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	cache, err := otter.New(&otter.Options[string, cachedPlan]{MaximumSize: c.MaxAccounts})
	if err != nil {
		return nil, err
	}
	p := &Plans{
		PlansConfig: c,
		cache:       cache,
		calls:       map[string]*planCall{},
		writing:     map[*planWrite]struct{}{},
	}
	p.era.Store(1)
	return p, p.register()
}

// Entitlement returns what the account may do. A warm account costs no query, no
// lock and no allocation. Otherwise it waits for the plan store, but never longer
// than the timeout, whatever becomes of ctx, and not at all while the store is known to be
// frozen or down: then the last value known serves, else the largest plan of the
// catalogue with status active, because our fault never denies a payer.
func (p *Plans) Entitlement(_ context.Context, account string) Entitlement {
	known, ok := p.cache.GetIfPresent(account)
	if ok && known.era == p.era.Load() {
		p.counts[fromCache].Add(1)
		return known.Entitlement
	}
	if fetched, err := p.fetch(account); err == nil {
		p.counts[fromStore].Add(1)
		return fetched
	}
	if ok {
		p.counts[fromLastKnown].Add(1)
		known.Stale = true
		return known.Entitlement
	}
	p.counts[fromLargest].Add(1)
	return p.largest()
}

// entitled turns a row into what it grants. Millions of rows name a handful of
// plans, so that they share the names.
func (p *Plans) entitled(row headcount.Plan) Entitlement {
	return Entitlement{
		Plan:   unique.Make(row.Plan).Value(),
		Limit:  p.Catalogue.Limit(row),
		Status: unique.Make(row.Status).Value(),
	}
}

// defaults is what an account without a row may do.
func (p *Plans) defaults() Entitlement {
	return Entitlement{Plan: p.DefaultPlan, Limit: p.Catalogue[p.DefaultPlan], Status: headcount.StatusActive}
}

func (p *Plans) largest() Entitlement {
	name := p.DefaultPlan
	for plan, limit := range p.Catalogue {
		if most := p.Catalogue[name]; limit > most || limit == most && plan < name {
			name = plan // of equals the first by name, so that every answer is the same
		}
	}
	return Entitlement{Plan: name, Limit: p.Catalogue[name], Status: headcount.StatusActive, Degraded: true}
}

// keep remembers what an account may do as the truth of this era. The id is
// copied, as it may be a part of a request that should not stay with it. The
// caller holds mu.
func (p *Plans) keep(account string, e Entitlement) {
	p.cache.Set(strings.Clone(account), cachedPlan{e, p.era.Load()})
}

// outdate marks what is known of an account as stale. The caller holds mu.
func (p *Plans) outdate(account string) {
	p.overtake(account)
	p.cache.ComputeIfPresent(account, func(old cachedPlan) (cachedPlan, otter.ComputeOp) {
		old.era = 0
		return old, otter.WriteOp
	})
}
