package storetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headcount-live/headcount"
)

// CountFreshness is how long values live in the stores that [Counts] opens.
const CountFreshness = 6 * time.Second

// CountStoreAt is a store and its clock.
type CountStoreAt struct {
	headcount.CountStore
	Advance func(time.Duration) // moves the store's clock on
}

// Counts runs what every [headcount.CountStore] must do. open returns an empty
// store of its own for each call, whose values live for [CountFreshness], and
// closes it with the test.
func Counts(t *testing.T, open func(t *testing.T) CountStoreAt) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, CountStoreAt)
	}{
		{"RegistrationTimeline", countRegistration},
		{"NodesAscendWithNotes", countNodes},
		{"DepartTakesSnapshotsAlong", countDepart},
		{"SnapshotsAreByPartitionAndNode", countSnapshots},
		{"CountsAreByPartition", countCounts},
		{"KnownVersionsComeWithoutData", countVersions},
		{"ValuesLapse", countLapse},
		{"ValuesAreKeptByVersion", countKeep},
		{"AgeIsSinceTheLastWrite", countAge},
		{"ValuesAreCopies", countCopies},
		{"LargeValues", countLarge},
		{"NothingAsked", countNothing},
		{"Concurrency", countConcurrency},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// A node is known from its first announcement until it was silent for one
// freshness; each announcement begins a new one.
func countRegistration(t *testing.T, s CountStoreAt) {
	for i, step := range []struct {
		after     time.Duration
		announce  bool
		wantKnown bool
		wantNodes int // before the announcement
	}{
		{0, true, false, 0},
		{2 * time.Second, true, true, 1},
		{5 * time.Second, true, true, 1},
		{5 * time.Second, false, false, 1},
		{2 * time.Second, false, false, 0},
		{0, true, false, 0},
		{time.Second, true, true, 1},
	} {
		s.Advance(step.after)
		if got := len(nodes(t, s)); got != step.wantNodes {
			t.Errorf("step %d: got %d nodes, want %d", i, got, step.wantNodes)
		}
		if !step.announce {
			continue
		}
		if got := announce(t, s, 7, "note"); got != step.wantKnown {
			t.Errorf("step %d: known %v, want %v", i, got, step.wantKnown)
		}
	}
}

// Nodes come by ascending id, each with its last note, whatever bytes that is.
func countNodes(t *testing.T, s CountStoreAt) {
	const most = headcount.NodeID(1<<64 - 1)
	announce(t, s, most, "")
	announce(t, s, 1, "first")
	announce(t, s, 300, "\x00\xff{}:\r\n")
	announce(t, s, 1, "second")
	want := []headcount.Node{
		{ID: 1, Note: []byte("second")},
		{ID: 300, Note: []byte("\x00\xff{}:\r\n")},
		{ID: most, Note: nil},
	}
	got := nodes(t, s)
	for i := range got {
		if len(got[i].Note) == 0 {
			got[i].Note = nil // an empty note and none are the same
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

// A node that departs is gone with its snapshots, at once, and with nobody
// else's; the counts it published stay.
func countDepart(t *testing.T, s CountStoreAt) {
	announce(t, s, 1, "")
	announce(t, s, 2, "")
	putSnapshots(t, s, value(0, 1, 10, "a"), value(1, 1, 11, "b"), value(0, 2, 12, "c"))
	publish(t, s, value(0, 1, 13, "d"))
	for range 2 { // once more does no harm
		if err := s.Depart(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if got := nodes(t, s); len(got) != 1 || got[0].ID != 2 {
		t.Errorf("nodes: got %v, want only node 2", got)
	}
	wantValues(t, snapshots(t, s, ask(0, 1), ask(1, 1), ask(0, 2)), value(0, 2, 12, "c"))
	wantValues(t, counts(t, s, ask(0, 0)), value(0, 1, 13, "d"))
}

// A snapshot belongs to one partition and node, replaces the one before, and
// comes in the order asked; what does not exist is left out.
func countSnapshots(t *testing.T, s CountStoreAt) {
	wantValues(t, snapshots(t, s, ask(0, 1)))
	putSnapshots(t, s, value(0, 1, 10, "old"), value(0, 2, 11, "b"), value(63, 1, 12, "c"))
	putSnapshots(t, s, value(0, 1, 13, "new"))
	wantValues(t, snapshots(t, s, ask(63, 1), ask(63, 2), ask(0, 2), ask(0, 1)),
		value(63, 1, 12, "c"), value(0, 2, 11, "b"), value(0, 1, 13, "new"))
	wantValues(t, counts(t, s, ask(0, 1), ask(63, 1)))
}

// Counts belong to a partition, whoever published them last.
func countCounts(t *testing.T, s CountStoreAt) {
	publish(t, s, value(3, 1, 10, "a"), value(4, 1, 11, "b"))
	publish(t, s, value(3, 2, 12, "c"))
	wantValues(t, counts(t, s, ask(4, 0), ask(5, 0), ask(3, 0)), value(4, 1, 11, "b"), value(3, 2, 12, "c"))
	wantValues(t, snapshots(t, s, ask(3, 1), ask(3, 2)))
}

// Who knows the version stored is told so without the bytes.
func countVersions(t *testing.T, s CountStoreAt) {
	const large = 1<<64 - 1
	putSnapshots(t, s, value(0, 1, large, "a"), value(1, 1, 5, "b"))
	publish(t, s, value(0, 1, 6, "c"))
	asked := func(v headcount.PartitionValue, version uint64) headcount.PartitionValue {
		v.Version = version
		return v
	}
	wantValues(t, snapshots(t, s, asked(ask(0, 1), large), asked(ask(1, 1), 4)),
		kept(0, large), value(1, 1, 5, "b"))
	wantValues(t, counts(t, s, asked(ask(0, 0), 6)), kept(0, 6))
	wantValues(t, counts(t, s, asked(ask(0, 0), 5)), value(0, 1, 6, "c"))
}

// No time at all is asked of a store that has nothing to do.
func countNothing(t *testing.T, s CountStoreAt) {
	wantValues(t, snapshots(t, s))
	wantValues(t, counts(t, s))
	putSnapshots(t, s)
	publish(t, s)
}

// A value of megabytes, of all bytes there are, comes back whole.
func countLarge(t *testing.T, s CountStoreAt) {
	large := make([]byte, 5<<20)
	for i := range large {
		large[i] = byte(i * 131 >> 3)
	}
	v := headcount.PartitionValue{Partition: 1, Node: 2, Version: 3, Data: large}
	putSnapshots(t, s, v)
	publish(t, s, v)
	for kind, got := range map[string][]headcount.PartitionValue{
		"snapshot": snapshots(t, s, ask(1, 2)), "counts": counts(t, s, ask(1, 0)),
	} {
		if len(got) != 1 || !bytes.Equal(got[0].Data, large) {
			t.Errorf("%s of 5 MiB did not come back whole", kind)
		}
	}
}
