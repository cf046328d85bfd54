package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount"
)

// The sweep frees what nobody asks for again: leases, tombstones, and their memory.
func TestSweepFreesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeases(t, 90*time.Second)
		defer s.Close()
		for a := range 250 {
			for n := range byte(8) {
				id := play(t, s, byte(a), n, 64)
				if n%4 == 0 {
					_, _ = s.Stop(ctx, headcount.AccountHash{byte(a), 15: byte(a)}, id)
				}
			}
		}
		if got := s.Stats(); got.Leases != 1500 || got.Accounts != 250 || got.Tombstones != 500 {
			t.Fatalf("before: %+v", got)
		}
		time.Sleep(89 * time.Second)
		if got := s.Stats(); got.Leases != 1500 || got.Tombstones != 500 {
			t.Fatalf("one second too early: %+v", got)
		}
		time.Sleep(2 * 90 * time.Second)
		if got := s.Stats(); got.Leases != 0 || got.Accounts != 0 || got.Tombstones != 0 {
			t.Errorf("two TTLs later: %+v", got)
		}
	})
}

// A watcher is told of a lapse at the moment it happens, however far the sweep is,
// and not while the player beats.
func TestWatchTellsALapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeases(t, 90*time.Second)
		defer s.Close()
		id := play(t, s, 1, 1, 1)
		ended, err := s.Watch(ctx, headcount.AccountHash{1, 15: 1}, id)
		if err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		for range 5 {
			time.Sleep(time.Minute)
			renew(t, s, 1, id)
		}
		got, ok := <-ended
		if !ok || got.Reason != headcount.ReasonExpired || time.Since(started) != 5*time.Minute+90*time.Second {
			t.Errorf("told %+v after %v", got, time.Since(started))
		}
		if _, open := <-ended; open {
			t.Error("a second value")
		}
	})
}
