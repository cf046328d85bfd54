package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies counts how long operations took, in buckets whose width grows with
// the value (Gil Tene's HdrHistogram): three significant digits from 1 µs to one
// minute. One goroutine records; merge when it is done.
type Latencies struct {
	hist *hdrhistogram.Histogram
}

const longest = time.Minute

// NewLatencies returns an empty histogram. It takes about 150 KB.
func NewLatencies() Latencies {
	return Latencies{hdrhistogram.New(int64(time.Microsecond), int64(longest), 3)}
}

// Record adds one duration. What is longer than a minute counts as a minute.
func (l Latencies) Record(d time.Duration) {
	// The only error is a value out of range.
	_ = l.hist.RecordValue(int64(min(max(d, 0), longest)))
}

// Merge adds all that other has recorded.
func (l Latencies) Merge(other Latencies) { l.hist.Merge(other.hist) }

// Quantiles is what a report says about latencies, in microseconds.
type Quantiles struct {
	P50  float64 `json:"p50_us"`
	P90  float64 `json:"p90_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p99_9_us"`
	Max  float64 `json:"max_us"`
}

// Quantiles returns the durations below which half, nine tenths and so on of
// the operations stayed; zeros if none was recorded.
func (l Latencies) Quantiles() Quantiles {
	at := func(percent float64) float64 {
		return float64(l.hist.ValueAtPercentile(percent)/100) / 10 // tenths of a microsecond
	}
	return Quantiles{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: at(100)}
}

// Count returns how many durations were recorded.
func (l Latencies) Count() int64 { return l.hist.TotalCount() }
