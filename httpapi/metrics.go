package httpapi

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// statusClasses is the number of classes of status, 1xx to 5xx.
const statusClasses = 5

// metrics counts requests by route, never by anything a client chose.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	readers  *prometheus.GaugeVec
	panics   prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headcount_http_requests_total",
			Help: "Requests answered, by route and class of status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "headcount_http_request_seconds",
			Help:    "Time from the first byte of a request's headers read to its answer handed on; one request in eight is timed, event streams are not.",
			Buckets: []float64{25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 100e-3, 1},
		}, []string{"route"}),
		readers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "headcount_http_event_readers",
			Help: "Open readers of server-sent events, by kind.",
		}, []string{"kind"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "headcount_http_panics_total",
			Help: "Requests that hit a bug and were answered 503.",
		}),
	}
	for _, kind := range []string{"stream", "page", "grid"} {
		m.readers.WithLabelValues(kind) // shows as 0 from the start
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.readers, m.panics)
	}
	return m
}

// bind resolves the route's own counters, so that a request looks up no label.
func (m *metrics) bind(rt *route) {
	name := rt.pattern
	if rt.methods != "" {
		name = rt.methods + " " + rt.pattern
	}
	for i := range rt.counts {
		rt.counts[i] = m.requests.WithLabelValues(name, strconv.Itoa(i+1)+"xx")
	}
	rt.timing = m.seconds.WithLabelValues(name)
}

// count files one answer.
func (rt *route) count(status int) {
	if class := status/100 - 1; class >= 0 && class < len(rt.counts) {
		rt.counts[class].Inc()
	}
}
