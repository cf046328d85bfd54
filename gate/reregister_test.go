package gate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// After the store lost its memory the players notice nothing: the next beat
// registers each stream again, and the one after it tells what was forgotten.
func TestReregistration(t *testing.T) {
	story(t, func(h *house) {
		tv, phone := h.play("alice", "tv"), h.play("alice", "phone")
		h.loseMemory()
		for _, id := range []string{tv, phone} {
			if beat, err := h.beat("alice", id); err != nil || !beat.Reregistered {
				h.Fatalf("first beat after the loss: got %+v, %v, want re-registered", beat, err)
			}
		}
		h.alive(tv, phone)
		h.wantDevices("alice", "", "")
		for id, meta := range map[string]string{tv: `"tv"`, phone: `"phone"`} {
			_, err := h.Heartbeat(h.Context(), &gate.HeartbeatRequest{
				Account: "alice", StreamID: id, Meta: headcount.Metadata{DeviceMeta: meta},
			})
			if err != nil {
				h.Error(err)
			}
		}
		h.wantDevices("alice", "tv", "phone")
		_, err := h.Play(h.Context(), request("alice", "tablet"))
		h.wantCode(err, headcount.CodeStreamLimit)
	})
}

// One lease per device holds across the loss, whoever comes first: the play-start
// of a device takes over its stream that re-registered, and a stream does not come
// back beside the newer one of its device.
func TestReregistrationKeepsOneLeasePerDevice(t *testing.T) {
	story(t, func(h *house) {
		tv, phone := h.play("alice", "tv"), h.play("alice", "phone")
		h.loseMemory()
		if _, err := h.beat("alice", tv); err != nil {
			h.Fatal(err)
		}
		h.play("alice", "tv")
		_, err := h.beat("alice", tv)
		h.wantStopped(err, headcount.ReasonReplaced, `"tv"`)

		h.play("alice", "phone")
		_, err = h.beat("alice", phone)
		h.wantCode(err, headcount.CodeLeaseExpired)
		h.wantDevices("alice", "tv", "phone")
	})
}

// Genuine streams come back beyond the limit, up to twice of it, because a viewer
// who plays is never cut for our fault; newcomers wait until the account is under
// its limit again.
func TestReregistrationBeyondTheLimit(t *testing.T) {
	story(t, func(h *house) {
		h.may("alice", 5, headcount.StatusActive)
		var streams []string
		for _, device := range []string{"a", "b", "c", "d", "e"} {
			streams = append(streams, h.play("alice", device))
		}
		h.may("alice", 2, headcount.StatusActive)
		h.loseMemory()
		for i, id := range streams {
			beat, err := h.beat("alice", id)
			if i < 4 && (err != nil || !beat.Reregistered) {
				h.Errorf("stream %d of 4: got %+v, %v, want re-registered", i, beat, err)
			}
			if i >= 4 {
				h.wantCode(err, headcount.CodeLeaseExpired)
			}
		}
		for live := 4; live >= 2; live-- {
			_, err := h.Play(h.Context(), request("alice", "newcomer"))
			h.wantCode(err, headcount.CodeStreamLimit)
			if err := h.Release(h.Context(), "alice", streams[live-1]); err != nil {
				h.Fatal(err)
			}
		}
		h.play("alice", "newcomer")
	})
}

// What must not come back does not: streams of an inactive account, streams that
// lapsed or were released under the memory that lives, and any stream once that
// memory is one TTL old.
func TestNothingElseIsRevived(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(h *house, tv string)
	}{
		{"inactive account", func(h *house, _ string) {
			h.loseMemory()
			h.may("alice", 2, headcount.StatusPaused)
		}},
		{"plan of no streams", func(h *house, _ string) {
			h.loseMemory()
			h.may("alice", 0, headcount.StatusActive)
		}},
		{"too late after the loss", func(h *house, _ string) {
			h.loseMemory()
			time.Sleep(ttl)
		}},
		{"no loss, lapsed", func(*house, string) { time.Sleep(ttl) }},
		{"no loss, released", func(h *house, tv string) {
			if err := h.Release(h.Context(), "alice", tv); err != nil {
				h.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(h *house) {
				tv := h.play("alice", "tv")
				tt.then(h, tv)
				_, err := h.beat("alice", tv)
				h.wantCode(err, headcount.CodeLeaseExpired)
				results := make([]gate.BeatResult, 1)
				h.HeartbeatBatch(h.Context(), []gate.HeartbeatRequest{{Account: "alice", StreamID: tv}}, results)
				h.wantCode(results[0].Err, headcount.CodeLeaseExpired)
				h.wantDevices("alice")
			})
		})
	}
}

// A stream that was stopped after the loss stays stopped.
func TestStoppedIsNotRevived(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		h.loseMemory()
		if _, err := h.beat("alice", tv); err != nil {
			h.Fatal(err)
		}
		if err := h.Stop(h.Context(), "alice", tv); err != nil {
			h.Fatal(err)
		}
		_, err := h.beat("alice", tv)
		h.wantStopped(err, headcount.ReasonForceStopped, "")
	})
}

// A gateway's batch re-registers what is forgotten and renews the rest, in order.
func TestBatchReregisters(t *testing.T) {
	story(t, func(h *house) {
		tv, bobs := h.play("alice", "tv"), h.play("bob", "tv")
		h.may("bob", 2, headcount.StatusChurned)
		h.loseMemory()
		phone := h.play("alice", "phone")
		reqs := []gate.HeartbeatRequest{
			{Account: "bob", StreamID: bobs},
			{Account: "alice", StreamID: phone},
			{Account: "alice", StreamID: tv},
			{Account: "alice", StreamID: forge(tv)},
		}
		results := make([]gate.BeatResult, len(reqs))
		h.HeartbeatBatch(h.Context(), reqs, results)
		for i, want := range []struct {
			code         headcount.Code
			reregistered bool
		}{{headcount.CodeLeaseExpired, false}, {"", false}, {"", true}, {headcount.CodeLeaseExpired, false}} {
			if got := results[i]; headcount.ErrorCode(got.Err) != want.code || got.Reregistered != want.reregistered {
				h.Errorf("item %d: got %+v, want %+v", i, got, want)
			}
		}
		h.alive(tv, phone)
	})
}

// A node that knows no plan yet re-registers a batch of many accounts with two
// queries at most, however many it has to ask for: the first miss begins one, and
// all others share the next.
func TestBatchAsksForPlansTogether(t *testing.T) {
	story(t, func(h *house) {
		reqs := make([]gate.HeartbeatRequest, 100)
		for i := range reqs {
			account := fmt.Sprint("account ", i)
			reqs[i] = gate.HeartbeatRequest{Account: account, StreamID: h.play(account, "tv")}
		}
		h.loseMemory()
		rows := newBrittle()
		rows.slow(10 * time.Millisecond)
		cold := h.config
		cold.Plans, _ = newPlans(t, rows)
		cold.Registerer = prometheus.NewRegistry()

		results := make([]gate.BeatResult, len(reqs))
		gate.New(cold).HeartbeatBatch(h.Context(), reqs, results)
		for i, result := range results {
			if result.Err != nil || !result.Reregistered {
				h.Fatalf("item %d: got %+v, want re-registered", i, result)
			}
		}
		if n := len(rows.queries()); n > 2 {
			h.Errorf("%d queries for one batch", n)
		}
	})
}
