package load

import (
	"maps"
	"strconv"
	"time"
)

// HTTPReport is what a run measured. Its JSON is the output of the command.
type HTTPReport struct {
	URL            string                `json:"url"`
	Connections    int                   `json:"connections"`
	Mix            string                `json:"mix"`
	Rate           float64               `json:"rate,omitempty"` // asked for, in an open loop
	Seconds        float64               `json:"seconds"`
	Requests       int64                 `json:"requests"` // answered, with whatever status
	RequestsPerSec float64               `json:"requests_per_sec"`
	Errors         int64                 `json:"errors"`
	TotalRequests  int64                 `json:"total_requests"`   // answered since the start, fill and warm-up included
	Unsent         int64                 `json:"unsent,omitempty"` // due in an open loop when no connection was free until the end
	Kinds          map[string]KindReport `json:"kinds"`
}

// KindReport is what a run measured of one kind of request. Latencies are those
// of answers with a 2xx status.
type KindReport struct {
	Requests       int64   `json:"requests"`
	RequestsPerSec float64 `json:"requests_per_sec"`
	Quantiles
	// Errors counts answers by status where that is not 2xx, and requests that
	// were not answered by cause: closed, timeout, connect or bad_answer.
	Errors map[string]int64 `json:"errors,omitempty"`
}

// Causes of requests that were not answered.
const (
	causeClosed    = "closed"     // the server closed or reset the connection
	causeTimeout   = "timeout"    // no answer in time
	causeBadAnswer = "bad_answer" // not HTTP, or a play-start without a stream_id
)

// tally counts the outcomes of one kind of request.
type tally struct {
	latencies Latencies
	statuses  map[int]int64    // other than 2xx
	causes    map[string]int64 // of requests without an answer
}

func newTally() *tally {
	return &tally{latencies: NewLatencies(), statuses: map[int]int64{}, causes: map[string]int64{}}
}

func (t *tally) merge(other *tally) {
	t.latencies.Merge(other.latencies)
	for status, n := range other.statuses {
		t.statuses[status] += n
	}
	for cause, n := range other.causes {
		t.causes[cause] += n
	}
}

// answered returns how many requests had an answer, and errors how many had
// another than 2xx or none.
func (t *tally) answered() int64 { return t.latencies.Count() + sum(t.statuses) }
func (t *tally) errors() int64   { return sum(t.statuses) + sum(t.causes) }

func (t *tally) report(elapsed time.Duration) KindReport {
	r := KindReport{
		Requests:       t.answered(),
		RequestsPerSec: perSecond(t.answered(), elapsed),
		Quantiles:      t.latencies.Quantiles(),
		Errors:         maps.Clone(t.causes),
	}
	for status, n := range t.statuses {
		r.Errors[strconv.Itoa(status)] = n
	}
	return r
}

func newHTTPReport(c HTTPConfig, tallies [kinds]*tally, elapsed time.Duration) *HTTPReport {
	r := &HTTPReport{
		URL:         c.URL,
		Connections: c.Connections,
		Mix:         c.Mix.String(),
		Rate:        c.Rate,
		Seconds:     float64(elapsed.Milliseconds()) / 1000,
		Kinds:       map[string]KindReport{},
	}
	for k, t := range tallies {
		if t.answered()+t.errors() == 0 {
			continue
		}
		r.Requests += t.answered()
		r.Errors += t.errors()
		r.Kinds[Kind(k).String()] = t.report(elapsed)
	}
	r.RequestsPerSec = perSecond(r.Requests, elapsed)
	return r
}

// perSecond rounds to whole numbers: more would be noise.
func perSecond(n int64, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(int64(float64(n)/elapsed.Seconds() + 0.5))
}

func sum[K comparable](counts map[K]int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}
