package crowd

import (
	"bytes"
	"errors"
	"testing"

	"github.com/headcount-live/headcount"
)

const testPartitions = 4

// crowdOf returns a window with pages of the given sizes, and their keys in the
// order of sizes.
func crowdOf(sizes ...int) (setWindow, []PageKey) {
	w, keys, from := setWindow{}, make([]PageKey, len(sizes)), 0
	for i, n := range sizes {
		keys[i] = PageKey(mixed(1_000_000_000 + i))
		w.add(keys[i], viewers(from, from+n)...)
		from += n
	}
	return w, keys
}

func snapshotValue(m *Merger, w Local, partition int, node headcount.NodeID) headcount.PartitionValue {
	return headcount.PartitionValue{Partition: partition, Node: node, Data: m.AppendSnapshot(nil, w, partition)}
}

// readAll returns the pages of a snapshot with how many sessions each has.
func readAll(tb testing.TB, m *Merger, v headcount.PartitionValue) (map[PageKey]int, error) {
	tb.Helper()
	s, err := m.OpenSnapshot(v)
	if err != nil {
		return nil, err
	}
	found := map[PageKey]int{}
	r := snapshotReader{pageReader: s.pages}
	for {
		if err := r.advance(); err != nil || r.done {
			return found, err
		}
		u := new(Union)
		if err := r.addTo(u, &m.scratch); err != nil {
			return nil, err
		}
		if got := u.Tally(); got != (Tally{Count: r.sessions}) {
			tb.Errorf("page %x: its contribution counts %v, want %d exactly", uint64(r.key), got, r.sessions)
		}
		found[r.key] = r.sessions
	}
}

// A snapshot holds every page of its partition with its sessions, whatever their
// number and form, and no page of another.
func TestSnapshotRoundTrip(t *testing.T) {
	m := NewMerger(1, testPartitions, 1000)
	w, keys := crowdOf(1, 2, 3, 7, 8, 9, 100, 127, 128, 1000, 1001, 5000, 1, 1, 1, 0)
	total := 0
	for p := range testPartitions {
		got, err := readAll(t, m, snapshotValue(m, w, p, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if key.Partition(testPartitions) == p && got[key] != len(w[key]) {
				t.Errorf("page %x: got %d sessions, want %d", uint64(key), got[key], len(w[key]))
			}
		}
		total += len(got)
	}
	if want := len(keys) - 1; total != want {
		t.Errorf("got %d pages, want %d", total, want)
	}
}

// Small pages cost what the format promises, large ones no more than a sketch,
// and equal windows have equal bytes.
func TestSnapshotSizes(t *testing.T) {
	m := NewMerger(1, 1, 1000)
	empty := len(m.AppendSnapshot(nil, setWindow{}, 0))
	if empty > 20 {
		t.Errorf("a snapshot without pages takes %d bytes, want at most 20", empty)
	}
	for _, tt := range []struct{ pages, sessions, most int }{
		{16_000, 1, 14}, {16_000, 2, 20}, {1000, 10, 70}, {10, 1000, 6012}, {10, 4000, 2700},
	} {
		sizes := make([]int, tt.pages)
		for i := range sizes {
			sizes[i] = tt.sessions
		}
		w, _ := crowdOf(sizes...)
		data := m.AppendSnapshot(nil, w, 0)
		each := (len(data) - empty) / tt.pages
		t.Logf("%d pages of %d sessions: %d bytes each", tt.pages, tt.sessions, each)
		if each > tt.most {
			t.Errorf("a page of %d sessions takes %d bytes, want at most %d", tt.sessions, each, tt.most)
		}
		if !bytes.Equal(data, m.AppendSnapshot(nil, w, 0)) {
			t.Error("the same window gave other bytes")
		}
	}
}

// Counts come back as they were packed, at 7 bytes for most pages.
func TestCountsRoundTrip(t *testing.T) {
	m := NewMerger(1, testPartitions, 1000)
	want := &Counts{}
	for i, n := range []int{1, 2, 15, 16, 127, 128, 70_000, maxCount} {
		want.add(PageKey(i*i*i)<<40+5, Tally{Count: n, Approx: i%2 == 1})
	}
	got, err := m.ReadCounts(headcount.PartitionValue{Data: m.AppendCounts(nil, 0, want)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != want.Len() {
		t.Fatalf("got %d pages, want %d", got.Len(), want.Len())
	}
	for key, tally := range want.All {
		if got.Lookup(key) != tally {
			t.Errorf("page %x: got %v, want %v", uint64(key), got.Lookup(key), tally)
		}
		if absent := got.Lookup(key + 1); absent != (Tally{}) {
			t.Errorf("page %x, which is not there: got %v, want nobody", uint64(key+1), absent)
		}
	}
	w, _ := crowdOf(make([]int, 16_000)...)
	for key := range w {
		w.add(key, 1)
	}
	alone := NewMerger(1, 1, 1000)
	c, err := alone.Merge(w, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if each := len(alone.AppendCounts(nil, 0, c)) / c.Len(); each > 8 {
		t.Errorf("a page's count takes %d bytes, want at most 8", each)
	}
}

// What was made under another key, for another partition or another number of
// them, in another version, or as something else is refused, and the error says
// what to do.
func TestForeignValuesAreRefused(t *testing.T) {
	here := NewMerger(1, testPartitions, 1000)
	w, keys := crowdOf(3)
	p := keys[0].Partition(testPartitions)
	alter := func(at int) headcount.PartitionValue {
		v := snapshotValue(here, w, p, 1)
		v.Data[at]++
		return v
	}
	elsewhere := snapshotValue(here, w, p, 1)
	elsewhere.Partition = (p + 1) % testPartitions
	for name, v := range map[string]headcount.PartitionValue{
		"another key":                      snapshotValue(NewMerger(2, testPartitions, 1000), w, p, 1),
		"another fingerprint":              alter(4),
		"another magic":                    alter(1),
		"another version":                  alter(3),
		"another partition":                elsewhere,
		"another number of partitions":     snapshotValue(NewMerger(1, 2*testPartitions, 1000), w, p, 1),
		"counts instead of a snapshot":     {Partition: p, Data: here.AppendCounts(nil, p, &Counts{})},
		"nothing":                          {Partition: p},
		"a page that is not where it says": alter(18),
	} {
		_, err := readAll(t, here, v)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if foreign := name == "another key" || name == "another fingerprint"; errors.Is(err, ErrForeignKey) != foreign {
			t.Errorf("%s: error %v, foreign key %v", name, err, foreign)
		}
	}
	if _, err := here.ReadCounts(snapshotValue(here, w, p, 1)); err == nil {
		t.Error("a snapshot instead of counts: accepted")
	}
}

// Values that were cut anywhere, or have something behind their end, are refused.
func TestDecodersAreStrict(t *testing.T) {
	m := NewMerger(1, 1, 10)
	w, _ := crowdOf(1, 2, 10, 50)
	v := snapshotValue(m, w, 0, 1)
	c, err := m.Merge(w, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := headcount.PartitionValue{Data: m.AppendCounts(nil, 0, c)}
	for cut := range v.Data {
		if _, err := readAll(t, m, headcount.PartitionValue{Data: v.Data[:cut]}); err == nil {
			t.Errorf("snapshot cut to %d of %d bytes: accepted", cut, len(v.Data))
		}
	}
	for cut := range packed.Data {
		if _, err := m.ReadCounts(headcount.PartitionValue{Data: packed.Data[:cut]}); err == nil {
			t.Errorf("counts cut to %d of %d bytes: accepted", cut, len(packed.Data))
		}
	}
	if _, err := readAll(t, m, headcount.PartitionValue{Data: append(v.Data, 0)}); err == nil {
		t.Error("snapshot with a byte behind its end: accepted")
	}
	if _, err := m.ReadCounts(headcount.PartitionValue{Data: append(packed.Data, 0)}); err == nil {
		t.Error("counts with a byte behind their end: accepted")
	}
}

// No bytes make the reader of snapshots panic or hang, and what it accepts merges
// to the numbers it claims.
func FuzzSnapshot(f *testing.F) {
	seeds := NewMerger(1, 1, 10)
	for _, sizes := range [][]int{{}, {1}, {7, 8}, {10, 11, 200}} {
		w, _ := crowdOf(sizes...)
		f.Add(seeds.AppendSnapshot(nil, w, 0))
	}
	m := NewMerger(1, 1, 10)
	f.Fuzz(func(t *testing.T, data []byte) {
		v := headcount.PartitionValue{Data: data}
		want, err := readAll(t, m, v)
		if err != nil {
			return
		}
		s, err := m.OpenSnapshot(v)
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.Merge(setWindow{}, 0, []Snapshot{s})
		if err != nil || c.Len() != len(want) {
			t.Fatalf("merged to %d pages (error %v), want %d", c.Len(), err, len(want))
		}
	})
}

// Whatever the reader of counts accepts is exactly what would be written.
func FuzzCounts(f *testing.F) {
	m := NewMerger(1, 1, 10)
	for _, sizes := range [][]int{{}, {1}, {15, 16}, {200, 300, 1}} {
		w, _ := crowdOf(sizes...)
		c, err := m.Merge(w, 0, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m.AppendCounts(nil, 0, c))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := m.ReadCounts(headcount.PartitionValue{Data: data})
		if err != nil {
			return
		}
		if got := m.AppendCounts(nil, 0, c); !bytes.Equal(got, data) {
			t.Errorf("accepted %x, which is written as %x", data, got)
		}
	})
}
