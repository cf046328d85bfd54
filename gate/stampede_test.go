package gate_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/headcount-live/headcount"
)

// A thousand devices press play on one account at the same moment: exactly as
// many are admitted as the plan allows, and everybody else is told who they are.
func TestStampede(t *testing.T) {
	for _, limit := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("N=%d", limit), func(t *testing.T) {
			h := newHouse(t)
			h.may("alice", limit, headcount.StatusActive)
			const devices = 1000
			var admitted [devices]string
			var denied [devices]error
			var start, done sync.WaitGroup
			start.Add(1)
			for i := range devices {
				done.Go(func() {
					start.Wait()
					play, err := h.Play(t.Context(), request("alice", fmt.Sprint("device ", i)))
					admitted[i], denied[i] = play.StreamID, err
				})
			}
			start.Done()
			done.Wait()

			var winners []string
			for _, id := range admitted {
				if id != "" {
					winners = append(winners, id)
				}
			}
			if len(winners) != limit {
				t.Fatalf("%d of %d were admitted, want %d", len(winners), devices, limit)
			}
			for _, err := range denied {
				if err == nil {
					continue
				}
				facts := h.wantCode(err, headcount.CodeStreamLimit).Denied
				for _, lease := range facts.Active {
					if !slices.Contains(winners, lease.StreamID) {
						t.Fatalf("the denial names %s, which does not play", lease.StreamID)
					}
				}
			}
		})
	}
}

// One device that presses play a thousand times at once holds one stream.
func TestOneDeviceManyTimes(t *testing.T) {
	h := newHouse(t)
	var presses sync.WaitGroup
	for range 1000 {
		presses.Go(func() {
			if _, err := h.Play(t.Context(), request("alice", "tv")); err != nil {
				t.Error(err)
			}
		})
	}
	presses.Wait()
	h.wantDevices("alice", "tv")
}
