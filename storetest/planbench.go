package storetest

import (
	"fmt"
	"testing"

	"github.com/headcount-live/headcount"
)

// BenchmarkPlans measures what a cache asks of a [headcount.PlanStore] of 10,000
// accounts: a miss by itself, the misses of one moment together, and a change.
func BenchmarkPlans(b *testing.B, s headcount.PlanStore) {
	const accounts = 10_000
	n, err := s.ImportPlans(b.Context(), func(yield func(headcount.Plan, error) bool) {
		for i := range accounts {
			if !yield(planRow(fmt.Sprint(i), "basic", -1, headcount.StatusActive), nil) {
				return
			}
		}
	})
	if n != accounts || err != nil {
		b.Fatal(n, err)
	}
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprintf("read=%d", size), func(b *testing.B) {
			ids := make([]string, size)
			for i := 0; b.Loop(); i++ {
				for j := range ids {
					ids[j] = fmt.Sprint((i*7919 + j*101) % accounts)
				}
				if rows, err := s.Plans(b.Context(), ids); len(rows) != size || err != nil {
					b.Fatal(len(rows), err)
				}
			}
		})
	}
	b.Run("put", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := s.PutPlan(b.Context(), planRow(fmt.Sprint(i%accounts), "premium", -1, headcount.StatusActive)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
