package gate_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// A stream lives for as long as its player beats, and one TTL of silence ends it
// for good: the slot is free, and a late beat revives nothing.
func TestBeatsKeepAStreamAlive(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		for range 10 {
			time.Sleep(ttl - time.Second)
			h.alive(tv)
		}
		time.Sleep(ttl + time.Millisecond)
		_, err := h.beat("alice", tv)
		h.wantCode(err, headcount.CodeLeaseExpired)
		h.wantDevices("alice")
	})
}

// A beat may tell what has changed; what it leaves out stays as it was.
func TestBeatUpdatesMetadata(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		for _, tt := range []struct {
			given                headcount.Metadata
			meta, profile, title string
		}{
			{headcount.Metadata{TitleID: "film"}, `"tv"`, "", "film"},
			{headcount.Metadata{ProfileID: "kids"}, `"tv"`, "kids", "film"},
			{headcount.Metadata{DeviceMeta: `{"n":1}`, TitleID: "next film"}, `{"n":1}`, "kids", "next film"},
			{headcount.Metadata{}, `{"n":1}`, "kids", "next film"},
		} {
			if _, err := h.Heartbeat(h.Context(), &gate.HeartbeatRequest{Account: "alice", StreamID: tv, Meta: tt.given}); err != nil {
				h.Fatal(err)
			}
			listing, err := h.List(h.Context(), "alice")
			if err != nil || len(listing.Active) != 1 {
				h.Fatalf("got %+v, %v, want one stream", listing, err)
			}
			got := listing.Active[0]
			if string(got.DeviceMeta) != tt.meta || text(got.ProfileID) != tt.profile || text(got.TitleID) != tt.title {
				h.Errorf("after %+v: got %s %q %q, want %s %q %q", tt.given,
					got.DeviceMeta, text(got.ProfileID), text(got.TitleID), tt.meta, tt.profile, tt.title)
			}
		}
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// An id that is forged, altered or another account's is honoured by nothing and
// harms nobody.
func TestForgedIDsAreNeverHonoured(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		bobs := h.play("bob", "tv")
		for name, id := range map[string]string{
			"empty": "", "nonsense": "x", "altered": forge(tv), "too long": tv + tv, "bob's": bobs,
		} {
			_, err := h.beat("alice", id)
			h.wantCode(err, headcount.CodeLeaseExpired)
			_, err = h.Watch(h.Context(), "alice", id)
			h.wantCode(err, headcount.CodeLeaseExpired)
			h.wantCode(h.Stop(h.Context(), "alice", id), headcount.CodeStreamNotFound)
			if err := h.Release(h.Context(), "alice", id); err != nil {
				h.Errorf("%s: releasing nothing is no error, got %v", name, err)
			}
		}
		h.wantDevices("alice", "tv")
		h.wantDevices("bob", "tv")
	})
}

// The items of a batch are answered in their order, each as if it had come alone:
// neither a bad one nor a forged one harms another.
func TestBatch(t *testing.T) {
	story(t, func(h *house) {
		lapsed := h.play("carol", "tv")
		time.Sleep(ttl)
		tv, phone := h.play("alice", "tv"), h.play("alice", "phone")
		if err := h.Stop(h.Context(), "alice", phone); err != nil {
			h.Fatal(err)
		}
		bad := headcount.FieldError(headcount.CodeInvalidField, "account_id", "account_id must not be empty")
		reqs := []gate.HeartbeatRequest{
			{Account: "carol", StreamID: lapsed},
			{Account: "alice", StreamID: tv, Meta: headcount.Metadata{DeviceMeta: `"new tv"`}},
			{},
			{Account: "alice", StreamID: forge(tv)},
			{Account: "alice", StreamID: phone},
			{Account: "alice", StreamID: tv},
		}
		results := make([]gate.BeatResult, len(reqs))
		results[2].Err = bad
		for range 2 { // the second time on buffers that the first one used
			h.HeartbeatBatch(h.Context(), reqs, results)
			for i, want := range []headcount.Code{
				headcount.CodeLeaseExpired, "", headcount.CodeInvalidField,
				headcount.CodeLeaseExpired, headcount.CodeStreamStopped, "",
			} {
				if got := headcount.ErrorCode(results[i].Err); got != want {
					h.Errorf("item %d: got %v, want %q", i, results[i].Err, want)
				}
			}
			clear(results)
			results[2].Err = bad
		}
		h.wantDevices("alice", "new tv")
	})
}

// A batch of nothing is nothing.
func TestEmptyBatch(t *testing.T) {
	story(t, func(h *house) { h.HeartbeatBatch(h.Context(), nil, nil) })
}

// Requests may be views of a buffer that is reused: what the gate and its stores
// remember does not change when the buffer does.
func TestRequestsMayBeViews(t *testing.T) {
	story(t, func(h *house) {
		var buffer []byte
		view := func(s string) string {
			start := len(buffer)
			buffer = append(buffer, s...)
			return unsafe.String(&buffer[start], len(s))
		}
		buffer = make([]byte, 0, 1<<10) // never moves
		play, err := h.Play(h.Context(), &gate.PlayRequest{
			Account: view("dave"), Device: view("tv"), DeviceKey: view("key"),
			Meta: headcount.Metadata{DeviceMeta: view(`"tv"`), ProfileID: view("kids"), TitleID: view("film")},
		})
		if err != nil {
			h.Fatal(err)
		}
		for i := range buffer {
			buffer[i] = 'x'
		}
		h.wantDevices("dave", "tv")
		if _, err := h.beat("dave", play.StreamID); err != nil {
			h.Error(err)
		}
		h.may("dave", 1, headcount.StatusActive)
		_, err = h.Play(h.Context(), request("dave", "phone"))
		h.wantCode(err, headcount.CodeStreamLimit)
	})
}

// A beat allocates nothing.
func TestBeatAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops what a sync.Pool holds, at random")
	}
	h := newHouse(t)
	tv := h.play("alice", "tv")
	req := &gate.HeartbeatRequest{Account: "alice", StreamID: tv}
	ctx := t.Context()
	var failed error
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := h.Heartbeat(ctx, req); err != nil {
			failed = err
		}
	}); n != 0 {
		t.Errorf("got %v allocations a beat, want 0", n)
	}
	if failed != nil {
		t.Error(failed)
	}
}
