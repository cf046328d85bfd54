package load_test

import (
	"testing"
	"time"

	"github.com/headcount-live/headcount/load"
)

// Two histograms merged say what one would have said that saw everything.
func TestLatenciesMerge(t *testing.T) {
	one, left, right := load.NewLatencies(), load.NewLatencies(), load.NewLatencies()
	for i := range 10_000 {
		d := time.Duration(i*i) * time.Nanosecond
		one.Record(d)
		if i%3 == 0 {
			left.Record(d)
		} else {
			right.Record(d)
		}
	}
	left.Merge(right)
	if left.Count() != one.Count() || left.Quantiles() != one.Quantiles() {
		t.Errorf("merged: %d values, %+v; one that saw all: %d values, %+v", left.Count(), left.Quantiles(), one.Count(), one.Quantiles())
	}
}

// Quantiles are right to a thousandth, in microseconds, and nothing that is
// recorded is lost, however far out.
func TestLatenciesQuantiles(t *testing.T) {
	l := load.NewLatencies()
	for ms := 1; ms <= 1000; ms++ {
		l.Record(time.Duration(ms) * time.Millisecond)
	}
	got := l.Quantiles()
	for _, q := range []struct {
		name      string
		got, want float64
	}{
		{"p50", got.P50, 500_000},
		{"p90", got.P90, 900_000},
		{"p99", got.P99, 990_000},
		{"p99.9", got.P999, 999_000},
		{"max", got.Max, 1_000_000},
	} {
		if q.got < q.want*0.999 || q.got > q.want*1.001 {
			t.Errorf("%s is %v µs, want %v within a thousandth", q.name, q.got, q.want)
		}
	}
	l.Record(-time.Second)
	l.Record(time.Hour)
	if l.Count() != 1002 {
		t.Errorf("count is %d after two values out of range, want 1002", l.Count())
	}
	if hour := l.Quantiles().Max; hour < 59.9e6 || hour > 60.1e6 {
		t.Errorf("an hour counts as %v µs, want one minute", hour)
	}
}
