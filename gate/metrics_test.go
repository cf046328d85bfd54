package gate_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// Every answer is counted once under its result, and no id is a label.
func TestMetrics(t *testing.T) {
	story(t, func(h *house) {
		ctx := h.Context()
		h.play("alice", "tv") // admitted
		phone := h.play("alice", "phone")
		h.Play(ctx, request("alice", "tablet")) // denied
		tv := h.play("alice", "tv")             // took over
		swap := request("alice", "tablet")
		swap.Replace = phone
		h.Play(ctx, swap)
		h.beat("alice", tv)        // ok
		h.beat("alice", phone)     // stopped
		h.beat("alice", forge(tv)) // forged
		h.HeartbeatBatch(ctx, []gate.HeartbeatRequest{
			{Account: "alice", StreamID: tv}, {Account: "alice", StreamID: phone}, {Account: "bob", StreamID: tv},
		}, make([]gate.BeatResult, 3))
		h.Stop(ctx, "alice", tv)
		h.Stop(ctx, "alice", tv)
		h.StopAll(ctx, "alice") // the tablet
		last := h.play("alice", "tv")
		h.Release(ctx, "alice", last)
		h.Release(ctx, "alice", last)
		h.Release(ctx, "alice", forge(last))
		h.beat("alice", last) // expired
		h.may("alice", 2, headcount.StatusPaused)
		h.Play(ctx, request("alice", "tv"))
		bobs := h.play("bob", "tv")
		h.loseMemory()
		h.beat("bob", bobs) // re-registered
		h.live.err = errors.New("down")
		h.Play(ctx, request("bob", "tv"))
		h.beat("bob", bobs)
		h.Release(ctx, "bob", bobs)
		h.StopAll(ctx, "bob")

		for name, want := range map[string]map[string]float64{
			"headcount_plays_total":      {"admitted": 4, "took_over": 1, "swapped": 1, "denied": 1, "inactive": 1, "error": 1},
			"headcount_heartbeats_total": {"ok": 2, "stopped": 2, "forged": 2, "expired": 1, "re_registered": 1, "error": 1},
			"headcount_releases_total":   {"released": 1, "gone": 1, "forged": 1, "error": 1},
			"headcount_stops_total":      {"stopped": 2, "not_found": 1, "error": 1},
		} {
			if got := byResult(h, name); !maps.Equal(got, want) {
				h.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	})
}

// byResult returns the counters of a metric whose one label is the result.
func byResult(h *house, name string) map[string]float64 {
	h.Helper()
	families, err := h.registry.Gather()
	if err != nil {
		h.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			if len(m.GetLabel()) != 1 || m.GetLabel()[0].GetName() != "result" {
				h.Errorf("%s has the labels %v, want the result alone", name, m.GetLabel())
			}
			counts[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return counts
}
