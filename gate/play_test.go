package gate_test

import (
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// An account plays as many streams as its plan says, and one more is denied with
// what the viewer needs to choose: the limit and who holds the slots, oldest
// first, under the ids that could be stopped.
func TestPlayUpToTheLimit(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		time.Sleep(10 * time.Second)
		phone := h.play("alice", "phone")

		_, err := h.Play(h.Context(), request("alice", "tablet"))
		denied := h.wantCode(err, headcount.CodeStreamLimit).Denied
		if denied == nil || denied.Limit != 2 || len(denied.Active) != 2 {
			h.Fatalf("got %+v, want a limit of 2 and both holders", denied)
		}
		for i, want := range []struct {
			id, meta string
			lapses   int
		}{{tv, `"tv"`, 80}, {phone, `"phone"`, 90}} {
			got := denied.Active[i]
			if got.StreamID != want.id || string(got.DeviceMeta) != want.meta || got.LapsesInSec != want.lapses {
				h.Errorf("holder %d: got %+v, want %+v", i, got, want)
			}
		}
		h.wantDevices("alice", "tv", "phone")
		h.play("bob", "tablet") // whose account is his own
	})
}

// An account without streams to its plan is denied with a list that is empty,
// not absent.
func TestPlayWithoutAnyStreams(t *testing.T) {
	story(t, func(h *house) {
		h.may("alice", 0, headcount.StatusActive)
		_, err := h.Play(h.Context(), request("alice", "tv"))
		if denied := h.wantCode(err, headcount.CodeStreamLimit).Denied; denied.Limit != 0 || denied.Active == nil {
			h.Errorf("got %+v, want limit 0 and an empty list", denied)
		}
	})
}

// An inactive subscription starts nothing and ends nothing: neither the device's
// own stream nor the one it names stops, and both play on.
func TestInactiveSubscription(t *testing.T) {
	for _, status := range []headcount.Status{headcount.StatusPaused, headcount.StatusChurned} {
		t.Run(string(status), func(t *testing.T) {
			story(t, func(h *house) {
				tv, phone := h.play("alice", "tv"), h.play("alice", "phone")
				h.may("alice", 2, status)
				again := request("alice", "tv")
				again.Replace = phone
				_, err := h.Play(h.Context(), again)
				h.wantCode(err, headcount.CodeSubscriptionInactive)
				h.alive(tv, phone)
				h.wantDevices("alice", "tv", "phone")

				h.may("alice", 2, headcount.StatusActive)
				h.play("alice", "tv")
			})
		})
	}
}

// A device that presses play again gets a new stream in the place of its old
// one, also on an account that is full or above a limit that was lowered.
func TestSameDeviceTakesOver(t *testing.T) {
	story(t, func(h *house) {
		old, phone := h.play("alice", "tv"), h.play("alice", "phone")
		h.may("alice", 1, headcount.StatusActive)
		reopened := h.play("alice", "tv")
		if reopened == old {
			h.Error("the old stream id was issued again")
		}
		_, err := h.beat("alice", old)
		h.wantStopped(err, headcount.ReasonReplaced, `"tv"`)
		h.alive(phone, reopened)
		h.wantDevices("alice", "phone", "tv")
	})
}

// With a key a device cannot be impersonated: the same id with another key or
// none is another device, which needs its own slot and ends nobody's stream.
func TestDeviceKey(t *testing.T) {
	story(t, func(h *house) {
		keyed := func(key string) error {
			r := request("alice", "tv")
			r.DeviceKey = key
			_, err := h.Play(h.Context(), r)
			return err
		}
		for _, key := range []string{"mine", ""} {
			if err := keyed(key); err != nil {
				h.Fatalf("key %q: %v", key, err)
			}
		}
		h.wantDevices("alice", "tv", "tv")
		h.wantCode(keyed("guessed"), headcount.CodeStreamLimit)
		if err := keyed("mine"); err != nil {
			h.Errorf("the device itself is on a full account already: %v", err)
		}
	})
}

// "Stop that one and play here" frees exactly the slot it names, and a name that
// means nothing is no name.
func TestReplace(t *testing.T) {
	for _, tt := range []struct {
		name     string
		limit    int
		device   string
		replace  func(tv, phone, bobs string) string
		admitted bool
		tv       headcount.Reason // how the tv's stream ended; 0: it did not
		devices  []string
	}{
		{"another stream", 2, "tablet", func(tv, _, _ string) string { return tv }, true, headcount.ReasonForceStopped, []string{"phone", "tablet"}},
		{"no room even so", 1, "tablet", func(tv, _, _ string) string { return tv }, false, 0, []string{"tv", "phone"}},
		{"the asker's own", 2, "tv", func(tv, _, _ string) string { return tv }, true, headcount.ReasonReplaced, []string{"phone", "tv"}},
		{"the phone's, by the tv", 2, "tv", func(_, phone, _ string) string { return phone }, true, headcount.ReasonReplaced, []string{"tv"}},
		{"malformed", 2, "tablet", func(_, _, _ string) string { return "tv" }, false, 0, []string{"tv", "phone"}},
		{"forged", 2, "tablet", func(tv, _, _ string) string { return forge(tv) }, false, 0, []string{"tv", "phone"}},
		{"bob's", 2, "tablet", func(_, _, bobs string) string { return bobs }, false, 0, []string{"tv", "phone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(h *house) {
				tv, phone, bobs := h.play("alice", "tv"), h.play("alice", "phone"), h.play("bob", "tv")
				h.may("alice", tt.limit, headcount.StatusActive)
				r := request("alice", tt.device)
				r.Replace = tt.replace(tv, phone, bobs)
				_, err := h.Play(h.Context(), r)
				if tt.admitted && err != nil {
					h.Fatal(err)
				}
				if !tt.admitted {
					h.wantCode(err, headcount.CodeStreamLimit)
				}
				if _, err := h.beat("alice", tv); tt.tv != 0 {
					ended := h.wantCode(err, headcount.CodeStreamStopped).Ended
					if ended.Reason != tt.tv {
						h.Errorf("the tv's stream was %s, want %s", ended.Reason, tt.tv)
					}
				} else if err != nil {
					h.Errorf("the tv's stream: %v", err)
				}
				h.wantDevices("alice", tt.devices...)
				h.wantDevices("bob", "tv")
			})
		})
	}
}

// forge changes one character of a stream id, in its random part.
func forge(streamID string) string {
	altered := []byte(streamID)
	altered[16] ^= 1
	return string(altered)
}
