package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount/memory"
)

// leaseMetrics shows what the embedded engine holds. The engine is asked once a
// scrape, so that its numbers belong together.
type leaseMetrics struct {
	leases                                  *memory.Leases
	streams, accounts, tombstones, allotted *prometheus.Desc
}

func newLeaseMetrics(leases *memory.Leases) *leaseMetrics {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	return &leaseMetrics{
		leases:     leases,
		streams:    desc("headcount_streams", "Streams in memory; those that lapsed a moment ago may be among them."),
		accounts:   desc("headcount_stream_accounts", "Accounts with a stream, or with one that was stopped within the last lease TTL."),
		tombstones: desc("headcount_stream_tombstones", "Streams that were stopped within the last lease TTL, kept to tell their players why."),
		allotted:   desc("headcount_stream_bytes", "Memory of the tables of streams."),
	}
}

// Describe implements [prometheus.Collector].
func (m *leaseMetrics) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect implements [prometheus.Collector].
func (m *leaseMetrics) Collect(out chan<- prometheus.Metric) {
	held := m.leases.Stats()
	gauge := func(desc *prometheus.Desc, value int64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value))
	}
	gauge(m.streams, int64(held.Leases))
	gauge(m.accounts, int64(held.Accounts))
	gauge(m.tombstones, int64(held.Tombstones))
	gauge(m.allotted, held.Bytes)
}
