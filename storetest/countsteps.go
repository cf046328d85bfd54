package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/headcount-live/headcount"
)

// value is what a node writes.
func value(partition int, node headcount.NodeID, version uint64, data string) headcount.PartitionValue {
	return headcount.PartitionValue{Partition: partition, Node: node, Version: version, Data: []byte(data)}
}

// kept is a value of node 1 without its bytes: it is stored already, or known
// already.
func kept(partition int, version uint64) headcount.PartitionValue {
	return headcount.PartitionValue{Partition: partition, Node: 1, Version: version}
}

// ask asks for a value of any version.
func ask(partition int, node headcount.NodeID) headcount.PartitionValue {
	return headcount.PartitionValue{Partition: partition, Node: node}
}

func announce(t *testing.T, s CountStoreAt, id headcount.NodeID, note string) (known bool) {
	t.Helper()
	known, err := s.Announce(t.Context(), headcount.Node{ID: id, Note: []byte(note)})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func nodes(t *testing.T, s CountStoreAt) []headcount.Node {
	t.Helper()
	got, err := s.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func putSnapshots(t *testing.T, s CountStoreAt, values ...headcount.PartitionValue) (missing []int) {
	t.Helper()
	missing, err := s.PutSnapshots(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	return missing
}

func publish(t *testing.T, s CountStoreAt, values ...headcount.PartitionValue) (missing []int) {
	t.Helper()
	missing, err := s.PublishCounts(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	return missing
}

func snapshots(t *testing.T, s CountStoreAt, asked ...headcount.PartitionValue) []headcount.PartitionValue {
	t.Helper()
	got, err := s.Snapshots(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func counts(t *testing.T, s CountStoreAt, asked ...headcount.PartitionValue) []headcount.PartitionValue {
	t.Helper()
	got, err := s.Counts(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantValues(t *testing.T, got []headcount.PartitionValue, want ...headcount.PartitionValue) {
	t.Helper()
	diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(headcount.PartitionValue{}, "Age"))
	if diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	for _, v := range want {
		for _, g := range got {
			if g.Partition == v.Partition && g.Node == v.Node && (g.Data == nil) != (v.Data == nil) {
				t.Errorf("partition %d, node %s: bytes travelled: %v, want %v", v.Partition, v.Node, g.Data != nil, v.Data != nil)
			}
		}
	}
}
