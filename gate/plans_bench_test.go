package gate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// BenchmarkPlans measures a warm account among many, from all cores, and a cold
// one whose store answers at once.
func BenchmarkPlans(b *testing.B) {
	newCache := func(b *testing.B, accounts int) *gate.Plans {
		b.Helper()
		p, err := gate.NewPlans(gate.PlansConfig{
			Store: newBrittle(), Catalogue: headcount.DefaultCatalogue(), DefaultPlan: "standard", MaxAccounts: accounts, Timeout: time.Minute,
		})
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	b.Run("warm", func(b *testing.B) {
		const accounts = 100_000
		p := newCache(b, 2*accounts)
		ids := make([]string, accounts)
		for i := range ids {
			ids[i] = fmt.Sprint(i)
			p.Entitlement(b.Context(), ids[i])
		}
		b.ReportAllocs()
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if p.Entitlement(b.Context(), ids[i*7919%accounts]).Degraded {
					b.Error("degraded")
				}
			}
		})
	})
	b.Run("cold", func(b *testing.B) {
		p := newCache(b, 1)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p.Entitlement(b.Context(), fmt.Sprint(i))
		}
	})
}
