package gate

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
)

// metrics counts what the gate answered. The counters are looked up once, so
// that a beat pays for an atomic add and nothing else. No id is ever a label.
type metrics struct {
	plays      playCounters
	heartbeats heartbeatCounters
	releases   releaseCounters
	stops      stopCounters
}

type playCounters struct {
	admitted, tookOver, swapped, denied, inactive, failed prometheus.Counter
}

type heartbeatCounters struct {
	states         [headcount.RenewStopped + 1]prometheus.Counter
	forged, failed prometheus.Counter
}

type releaseCounters struct {
	released, gone, forged, failed prometheus.Counter
}

type stopCounters struct {
	stopped, notFound, failed prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	plays := results(r, "headcount_plays_total", "Play-starts by result: took_over when the device held a stream already, swapped when it named another to stop.")
	beats := results(r, "headcount_heartbeats_total", "Heartbeats by result: re_registered after a loss of memory, forged when the id was not genuine for its account.")
	releases := results(r, "headcount_releases_total", "Releases by result: gone when the stream had ended before.")
	stops := results(r, "headcount_stops_total", "Streams that were force-stopped, and requests for it that found none or failed.")
	m := &metrics{
		plays: playCounters{
			admitted: plays("admitted"), tookOver: plays("took_over"), swapped: plays("swapped"),
			denied: plays("denied"), inactive: plays("inactive"), failed: plays("error"),
		},
		heartbeats: heartbeatCounters{forged: beats("forged"), failed: beats("error")},
		releases: releaseCounters{
			released: releases("released"), gone: releases("gone"), forged: releases("forged"), failed: releases("error"),
		},
		stops: stopCounters{stopped: stops("stopped"), notFound: stops("not_found"), failed: stops("error")},
	}
	m.heartbeats.states = [...]prometheus.Counter{
		headcount.RenewUnknown:      beats("expired"),
		headcount.RenewOK:           beats("ok"),
		headcount.RenewReregistered: beats("re_registered"),
		headcount.RenewStopped:      beats("stopped"),
	}
	return m
}

// results registers a counter by result and returns how to look one up.
func results(r prometheus.Registerer, name, help string) func(result string) prometheus.Counter {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"result"})
	r.MustRegister(vec)
	return func(result string) prometheus.Counter { return vec.WithLabelValues(result) }
}

// of returns the counter of a renewal's outcome.
func (c *heartbeatCounters) of(s headcount.RenewState) prometheus.Counter { return c.states[s] }

// admitted counts a play that was let in.
func (m *metrics) admitted(tookOver, named bool) {
	switch {
	case tookOver:
		m.plays.tookOver.Inc()
	case named:
		m.plays.swapped.Inc()
	default:
		m.plays.admitted.Inc()
	}
}
