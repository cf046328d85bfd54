package crowd

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what an operator sees of a Crowd. None has a label of pages or
// sessions.
type metrics struct {
	reports prometheus.Histogram
}

func newMetrics(c *Crowd, registerer prometheus.Registerer) (metrics, error) {
	m := metrics{reports: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "headcount_presence_report_seconds",
		Help:    "Time that one whole report took.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
	})}
	collectors := []prometheus.Collector{
		m.reports,
		gauge("headcount_presence_sessions", "Viewers this node hears.", func() float64 { return float64(c.window.sessions.Load()) }),
		gauge("headcount_presence_pages", "Pages that have viewers on this node.", func() float64 { return float64(c.window.pages.Load()) }),
		gauge("headcount_presence_window_bytes", "Memory of the window's tables.", func() float64 { return float64(c.window.bytes()) }),
		gauge("headcount_presence_readers", "Readers that are subscribed to pages.", func() float64 { return float64(c.readers.Load()) }),
		counter("headcount_presence_leaves_total", "Leaves that were heard.", nil, func() float64 { return float64(c.leaves.Load()) }),
		beats("renewed", func() float64 { return float64(c.window.renewals() + c.outcomes[known].Load()) }),
	}
	for o, label := range map[outcome]string{added: "added", tooManySessions: "max_sessions", tooManyPages: "max_pages", filtered: "filtered"} {
		collectors = append(collectors, beats(label, func() float64 { return float64(c.outcomes[o].Load()) }))
	}
	var errs []error
	for _, one := range collectors {
		errs = append(errs, registerer.Register(one))
	}
	return m, errors.Join(errs...)
}

func gauge(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

func counter(name, help string, labels prometheus.Labels, value func() float64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, value)
}

func beats(outcome string, value func() float64) prometheus.Collector {
	return counter("headcount_presence_beats_total",
		"Heartbeats by what became of them: renewed and added count, the others were dropped for the reason they are named after.",
		prometheus.Labels{"outcome": outcome}, value)
}
