package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// Every value is gone one freshness after it was written, not before.
func countLapse(t *testing.T, s CountStoreAt) {
	putSnapshots(t, s, value(0, 1, 10, "a"))
	publish(t, s, value(0, 1, 11, "b"))
	s.Advance(CountFreshness - time.Second)
	wantValues(t, snapshots(t, s, ask(0, 1)), value(0, 1, 10, "a"))
	wantValues(t, counts(t, s, ask(0, 0)), value(0, 1, 11, "b"))
	s.Advance(time.Second)
	wantValues(t, snapshots(t, s, ask(0, 1)))
	wantValues(t, counts(t, s, ask(0, 0)))
}

// A value without bytes keeps the one stored alive if it has the same version;
// where it has not, or nothing is stored any more, the index says so and nothing
// changes.
func countKeep(t *testing.T, s CountStoreAt) {
	for _, kind := range []struct {
		name  string
		write func(*testing.T, CountStoreAt, ...headcount.PartitionValue) []int
		read  func(*testing.T, CountStoreAt, ...headcount.PartitionValue) []headcount.PartitionValue
	}{
		{"snapshots", putSnapshots, snapshots},
		{"counts", publish, counts},
	} {
		kind.write(t, s, value(0, 1, 10, "a"), value(1, 1, 11, "b"))
		s.Advance(CountFreshness - time.Second)
		missing := kind.write(t, s, kept(0, 10), kept(1, 99), kept(2, 12), value(3, 1, 13, "d"))
		if len(missing) != 2 || missing[0] != 1 || missing[1] != 2 {
			t.Errorf("%s: got missing %v, want [1 2]", kind.name, missing)
		}
		wantValues(t, kind.read(t, s, ask(1, 1)), value(1, 1, 11, "b"))
		s.Advance(2 * time.Second) // the first would have lapsed by now
		wantValues(t, kind.read(t, s, ask(0, 1), ask(1, 1), ask(3, 1)), value(0, 1, 10, "a"), value(3, 1, 13, "d"))
		s.Advance(CountFreshness)
		if missing := kind.write(t, s, kept(0, 10)); len(missing) != 1 {
			t.Errorf("%s: keeping what lapsed: got missing %v, want [0]", kind.name, missing)
		}
		wantValues(t, kind.read(t, s, ask(0, 1)))
	}
}

// Age counts from the last time that a value was written or kept, on the store's
// clock.
func countAge(t *testing.T, s CountStoreAt) {
	wantAge := func(moment string, want time.Duration) {
		t.Helper()
		found := append(snapshots(t, s, ask(0, 1)), counts(t, s, ask(0, 0))...)
		if len(found) != 2 {
			t.Fatalf("%s: got %d values, want a snapshot and counts", moment, len(found))
		}
		for _, v := range found { // a store across a network loses a moment on the way
			if v.Age < want || v.Age > want+500*time.Millisecond {
				t.Errorf("%s: got age %v, want %v", moment, v.Age, want)
			}
		}
	}
	putSnapshots(t, s, value(0, 1, 10, "a"))
	publish(t, s, value(0, 1, 11, "b"))
	wantAge("just written", 0)
	s.Advance(3 * time.Second)
	wantAge("three seconds on", 3*time.Second)
	putSnapshots(t, s, kept(0, 10))
	publish(t, s, kept(0, 11))
	wantAge("just kept", 0)
}

// What the caller does with its slices after a call changes nothing stored.
func countCopies(t *testing.T, s CountStoreAt) {
	data, note := []byte("data"), []byte("note")
	v := headcount.PartitionValue{Partition: 0, Node: 1, Version: 1, Data: data}
	putSnapshots(t, s, v)
	publish(t, s, v)
	if _, err := s.Announce(t.Context(), headcount.Node{ID: 1, Note: note}); err != nil {
		t.Fatal(err)
	}
	copy(data, "xxxx")
	copy(note, "xxxx")
	wantValues(t, snapshots(t, s, ask(0, 1)), value(0, 1, 1, "data"))
	wantValues(t, counts(t, s, ask(0, 0)), value(0, 1, 1, "data"))
	if got := nodes(t, s); len(got) != 1 || string(got[0].Note) != "note" {
		t.Errorf("nodes: got %v, want the note as announced", got)
	}
}

// Many nodes at once neither tear a value nor lose a node.
func countConcurrency(t *testing.T, s CountStoreAt) {
	const workers, rounds = 8, 30
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			id := headcount.NodeID(w + 1)
			for i := range rounds {
				text := string(rune('a' + i%2))
				version := uint64(text[0])
				if _, err := s.Announce(t.Context(), headcount.Node{ID: id}); err != nil {
					t.Error(err)
				}
				if _, err := s.PutSnapshots(t.Context(), []headcount.PartitionValue{value(0, id, version, text)}); err != nil {
					t.Error(err)
				}
				if _, err := s.PublishCounts(t.Context(), []headcount.PartitionValue{value(0, id, version, text)}); err != nil {
					t.Error(err)
				}
				found, err := s.Counts(t.Context(), []headcount.PartitionValue{ask(0, 0)})
				if err != nil || len(found) != 1 || uint64(found[0].Data[0]) != found[0].Version {
					t.Errorf("got %v (error %v), want one value whose bytes fit its version", found, err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(nodes(t, s)); got != workers {
		t.Errorf("got %d nodes, want %d", got, workers)
	}
	for w := range workers {
		if got := snapshots(t, s, ask(0, headcount.NodeID(w+1))); len(got) != 1 {
			t.Errorf("node %d: got %d snapshots, want 1", w+1, len(got))
		}
	}
}
