package gate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// While the store fails every step says so and asks for a retry; the cause is
// kept for the log. Ids that are not genuine are refused all the same.
func TestStoreFails(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		h.live.err = errors.New("connection refused")
		ctx, results := h.Context(), make([]gate.BeatResult, 1)
		h.HeartbeatBatch(ctx, []gate.HeartbeatRequest{{Account: "alice", StreamID: tv}}, results)
		_, played := h.Play(ctx, request("alice", "phone"))
		_, beaten := h.beat("alice", tv)
		_, listed := h.List(ctx, "alice")
		_, stopped := h.StopAll(ctx, "alice")
		_, watched := h.Watch(ctx, "alice", tv)
		for step, err := range map[string]error{
			"play": played, "beat": beaten, "batch": results[0].Err, "list": listed, "watch": watched,
			"stop all": stopped, "stop": h.Stop(ctx, "alice", tv), "release": h.Release(ctx, "alice", tv),
		} {
			e := h.wantCode(err, headcount.CodeUnavailable)
			if e.RetryAfter <= 0 || !errors.Is(err, h.live.err) {
				h.Errorf("%s: got %+v, want a time to retry after and the cause", step, e)
			}
		}
		_, err := h.beat("alice", forge(tv))
		h.wantCode(err, headcount.CodeLeaseExpired)

		h.live.err = nil
		h.alive(tv)
	})
}

// A stream that is unknown while nobody can say whether memory was lost is neither
// revived nor declared dead: its player tries again.
func TestLookFails(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		h.loseMemory()
		h.live.lookErr = errors.New("timeout")
		_, err := h.beat("alice", tv)
		h.wantCode(err, headcount.CodeUnavailable)
		results := make([]gate.BeatResult, 1)
		h.HeartbeatBatch(h.Context(), []gate.HeartbeatRequest{{Account: "alice", StreamID: tv}}, results)
		h.wantCode(results[0].Err, headcount.CodeUnavailable)
		h.live.lookErr = nil
		if beat, err := h.beat("alice", tv); err != nil || !beat.Reregistered {
			h.Errorf("got %+v, %v, want re-registered", beat, err)
		}
	})
}

// An outage is one line in the log and its end another, however many requests
// fail in it, and however often a store fails and answers by turns.
func TestOutageIsLoggedOnce(t *testing.T) {
	story(t, func(h *house) {
		tv := h.play("alice", "tv")
		for range 5 {
			for _, h.live.err = range []error{errors.New("connection refused"), nil} {
				h.beat("alice", tv)
				time.Sleep(time.Second)
			}
		}
		wantLines(h, 1, "level=ERROR", "connection refused")
		time.Sleep(10 * time.Second)
		h.alive(tv)
		h.alive(tv)
		wantLines(h, 2, "level=INFO", "answers again")
		h.live.err = errors.New("connection reset")
		h.beat("alice", tv)
		wantLines(h, 3, "level=ERROR", "connection reset")
	})
}

// A caller that goes away is no outage.
func TestCallerGoesAway(t *testing.T) {
	story(t, func(h *house) {
		h.live.err = context.Canceled
		_, err := h.List(h.Context(), "alice")
		h.wantCode(err, headcount.CodeUnavailable)
		wantLines(h, 0)
	})
}

// wantLines fails the test unless the log has n lines, the last of which says words.
func wantLines(h *house, n int, words ...string) {
	h.Helper()
	lines := strings.Split(strings.TrimSuffix(h.log.String(), "\n"), "\n")
	if h.log.Len() == 0 {
		lines = nil
	}
	if len(lines) != n {
		h.Fatalf("got %d lines, want %d:\n%s", len(lines), n, h.log.String())
	}
	for _, word := range words {
		if last := lines[n-1]; !strings.Contains(last, word) {
			h.Errorf("the last line is %q, want %q in it", last, word)
		}
	}
}
