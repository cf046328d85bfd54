package main

import "testing"

// A ratio is that of neighbouring turns: a machine that slows down in the middle
// of a contest changes both sides and not the result.
func TestRatioOfNeighbours(t *testing.T) {
	ours := []turn{{perSecond: 90}, {perSecond: 45}, {perSecond: 9}}
	theirs := []turn{{perSecond: 100}, {perSecond: 50}, {perSecond: 10}}
	if got := ratio(ours, theirs, rate); got != 0.9 {
		t.Errorf("ratio is %v, want 0.9", got)
	}
	if got := figure(ours, rate); got != 45 {
		t.Errorf("figure is %v, want the median 45", got)
	}
}

// The median of an even number of figures is between the two in the middle.
func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		figures []float64
		want    float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1}, 5},
		{[]float64{5, 1, 9}, 5},
		{[]float64{4, 1, 2, 100}, 3},
	} {
		if got := median(tt.figures); got != tt.want {
			t.Errorf("median of %v is %v, want %v", tt.figures, got, tt.want)
		}
	}
}
