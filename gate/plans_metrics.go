package gate

import "github.com/prometheus/client_golang/prometheus"

// The places a decision's plan comes from.
const (
	fromCache = iota
	fromStore
	fromLastKnown
	fromLargest
	sources
)

// register offers the cache's metrics. None carries an account.
func (p *Plans) register() error {
	if p.Registerer == nil {
		return nil
	}
	collectors := []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "headcount_plan_cache_hits_total",
			Help: "Plans answered from memory without asking the plan store.",
		}, p.total(fromCache)),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "headcount_plan_cache_misses_total",
			Help: "Plans that were not in memory, or no longer fresh.",
		}, p.total(fromStore, fromLastKnown, fromLargest)),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "headcount_plan_degraded",
			Help: "1 while the plan store fails or is slower than the timeout.",
		}, p.degraded),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "headcount_plan_cache_accounts",
			Help: "Accounts whose plan is in memory.",
		}, func() float64 { return float64(p.cache.EstimatedSize()) }),
	}
	for source, name := range [sources]string{"cache", "store", "last_known", "largest"} {
		collectors = append(collectors, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "headcount_plan_decisions_total",
			Help:        "Plans answered, by where they came from: last_known and largest served because the plan store did not answer.",
			ConstLabels: prometheus.Labels{"source": name},
		}, p.total(source)))
	}
	for _, c := range collectors {
		if err := p.Registerer.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// total sums the decisions of some sources.
func (p *Plans) total(of ...int) func() float64 {
	return func() float64 {
		var n uint64
		for _, source := range of {
			n += p.counts[source].Load()
		}
		return float64(n)
	}
}

func (p *Plans) degraded() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store.failing {
		return 1
	}
	return 0
}
