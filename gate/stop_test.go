package gate_test

import (
	"context"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// A release frees the slot at once and can be repeated.
func TestRelease(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		h.play("alice", "phone")
		for range 2 {
			if err := h.Release(h.Context(), "alice", tv); err != nil {
				h.Fatal(err)
			}
		}
		h.play("alice", "tablet")
		_, err := h.beat("alice", tv)
		h.wantCode(err, headcount.CodeLeaseExpired)
	})
}

// A kick frees the slot at once; the player is told for one TTL why it must stop.
func TestStop(t *testing.T) {
	story(t, func(h *house) {
		tv, phone := h.play("alice", "tv"), h.play("alice", "phone")
		at := headcount.At(time.Now())
		if err := h.Stop(h.Context(), "alice", tv); err != nil {
			h.Fatal(err)
		}
		h.wantCode(h.Stop(h.Context(), "alice", tv), headcount.CodeStreamNotFound)
		h.play("alice", "tablet")

		time.Sleep(ttl - time.Second)
		h.alive(phone)
		_, err := h.beat("alice", tv)
		h.wantStopped(err, headcount.ReasonForceStopped, "")
		if got := h.wantCode(err, headcount.CodeStreamStopped).Ended.StoppedAt; got != at {
			h.Errorf("stopped at %s, want %s", got, at)
		}
		time.Sleep(2 * time.Second)
		_, err = h.beat("alice", tv)
		h.wantCode(err, headcount.CodeLeaseExpired)
	})
}

// "Sign out everywhere" ends all streams of the account and nobody else's.
func TestStopAll(t *testing.T) {
	story(t, func(h *house) {
		tv, phone, bobs := h.play("alice", "tv"), h.play("alice", "phone"), h.play("bob", "tv")
		for _, want := range []int{2, 0} {
			if n, err := h.StopAll(h.Context(), "alice"); n != want || err != nil {
				h.Errorf("stopped %d, %v, want %d", n, err, want)
			}
		}
		for _, id := range []string{tv, phone} {
			_, err := h.beat("alice", id)
			h.wantStopped(err, headcount.ReasonForceStopped, "")
		}
		if _, err := h.beat("bob", bobs); err != nil {
			h.Errorf("bob: %v", err)
		}
	})
}

// Who watches a stream learns how it ends.
func TestWatch(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(h *house, tv string) error
		want headcount.Reason
		by   string
	}{
		{"kicked", func(h *house, tv string) error { return h.Stop(h.Context(), "alice", tv) }, headcount.ReasonForceStopped, ""},
		{"replaced", func(h *house, _ string) error { h.play("alice", "tv"); return nil }, headcount.ReasonReplaced, `"tv"`},
		{"lapsed", func(*house, string) error { time.Sleep(ttl); return nil }, headcount.ReasonExpired, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(h *house) {
				tv := h.play("alice", "tv")
				ended, err := h.Watch(h.Context(), "alice", tv)
				if err != nil {
					h.Fatal(err)
				}
				if err := tt.end(h, tv); err != nil {
					h.Fatal(err)
				}
				got, ok := <-ended
				if !ok || got.Reason != tt.want || string(got.By) != tt.by {
					h.Errorf("got %+v, %v, want %s by %s", got, ok, tt.want, tt.by)
				}
				if _, open := <-ended; open {
					h.Error("a stream ended twice")
				}
			})
		})
	}
}

// Watching a stream that was stopped already tells at once; one that is gone is
// an error; who goes away is told nothing.
func TestWatchTooLate(t *testing.T) {
	story(t, func(h *house) {
		tv, phone := h.play("alice", "tv"), h.play("alice", "phone")
		ctx, leave := context.WithCancel(h.Context())
		ended, err := h.Watch(ctx, "alice", phone)
		if err != nil {
			h.Fatal(err)
		}
		leave()
		if got, open := <-ended; open {
			h.Errorf("who went away was told %+v", got)
		}
		if err := h.Stop(h.Context(), "alice", tv); err != nil {
			h.Fatal(err)
		}
		ended, err = h.Watch(h.Context(), "alice", tv)
		if err != nil {
			h.Fatal(err)
		}
		if got := <-ended; got.Reason != headcount.ReasonForceStopped {
			h.Errorf("got %+v, want force_stopped", got)
		}
		time.Sleep(ttl + time.Second)
		_, err = h.Watch(h.Context(), "alice", phone)
		h.wantCode(err, headcount.CodeLeaseExpired)
	})
}
