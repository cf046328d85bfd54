package load_test

import (
	"testing"
	"time"

	"github.com/headcount-live/headcount/load"
)

// A small run fills, renews and plays, and every figure of its report is of
// something that happened.
func TestEngineBenchmarkMeasures(t *testing.T) {
	r, err := load.RunEngine(t.Context(), load.EngineConfig{Leases: 2000, Duration: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Leases != 2000 || r.Cores < 1 {
		t.Errorf("got %d leases on %d cores", r.Leases, r.Cores)
	}
	for name, rate := range map[string]int64{
		"renew_per_sec": r.RenewPerSec, "renew_batch_per_sec": r.RenewBatchRate, "acquire_per_sec": r.AcquirePerSec,
		"renew_p50_ns": r.RenewP50, "renew_p999_ns": r.RenewP999, "grow_max_ns": r.GrowMax,
	} {
		if rate <= 0 {
			t.Errorf("%s is %d", name, rate)
		}
	}
}

// A run that makes no sense is refused before memory is filled for it.
func TestEngineBenchmarkRefuses(t *testing.T) {
	for _, config := range []load.EngineConfig{{Leases: 10, Duration: time.Second}, {Leases: 2000}} {
		if err := config.Check(); err == nil {
			t.Errorf("%+v was accepted", config)
		}
	}
}
