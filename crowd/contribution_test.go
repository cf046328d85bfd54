package crowd

import (
	"maps"
	"slices"
	"testing"

	"github.com/headcount-live/headcount/crowd/sketch"
)

// setWindow is a window without time: who is on which page.
type setWindow map[PageKey]map[uint64]struct{}

func (w setWindow) add(page PageKey, sessions ...uint64) {
	if w[page] == nil {
		w[page] = map[uint64]struct{}{}
	}
	for _, s := range sessions {
		w[page][s] = struct{}{}
	}
}

func (w setWindow) AppendPages(dst []LocalPage, partition, partitions int) []LocalPage {
	for page, sessions := range w {
		if page.Partition(partitions) == partition && len(sessions) > 0 {
			dst = append(dst, LocalPage{page, len(sessions)})
		}
	}
	return dst
}

func (w setWindow) AppendSessions(dst []uint64, page PageKey) []uint64 {
	return slices.AppendSeq(dst, maps.Keys(w[page]))
}

// mixed returns the i-th of a stream of hashes.
func mixed(i int) uint64 {
	h := uint64(i+1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// viewers returns the hashes of the viewers from..to-1.
func viewers(from, to int) []uint64 {
	hashes := make([]uint64, 0, to-from)
	for i := from; i < to; i++ {
		hashes = append(hashes, mixed(i))
	}
	return hashes
}

// A page belongs to one partition of any number of them, in the order of keys.
func TestPartitionsAreRangesOfKeys(t *testing.T) {
	for _, tt := range []struct {
		key        PageKey
		partitions int
		want       int
	}{
		{0, 64, 0}, {1<<58 - 1, 64, 0}, {1 << 58, 64, 1}, {1<<64 - 1, 64, 63},
		{1<<64 - 1, 1, 0}, {1 << 63, 3, 1}, {1<<64 - 1, 3, 2},
	} {
		if got := tt.key.Partition(tt.partitions); got != tt.want {
			t.Errorf("key %x of %d partitions: got %d, want %d", uint64(tt.key), tt.partitions, got, tt.want)
		}
	}
}

// Hashes travel ascending, distinct and without the bits that a sketch does not
// read, so a list folds into a sketch as its sessions would have.
func TestShortHashesFoldLikeSessions(t *testing.T) {
	full := append(viewers(0, 500), viewers(250, 700)...)
	var want, got sketch.Sketch
	for _, h := range full {
		want.Insert(h)
	}
	short := shortHashes(full)
	if len(short) != 700 || !ascending(short) {
		t.Errorf("got %d hashes, ascending %v, want 700, true", len(short), ascending(short))
	}
	for _, h := range short {
		got.Insert(h)
	}
	if got != want {
		t.Error("short hashes make another sketch than the sessions they stand for")
	}
}

// A page becomes a sketch above the threshold and a list again only below 0.9 of
// it, however its size moves between.
func TestFormsDoNotFlap(t *testing.T) {
	f := newForms(2, 1000)
	for i, step := range []struct {
		sessions int
		want     bool
	}{
		{1, false}, {950, false}, {1000, false}, {1001, true}, {1000, true}, {950, true},
		{900, true}, {899, false}, {950, false}, {1000, false}, {1_000_000, true}, {0, false}, {999, false},
	} {
		r := f.begin(1)
		got := r.sketches(7, step.sessions)
		r.end()
		if got != step.want {
			t.Errorf("step %d, %d sessions: sketch %v, want %v", i, step.sessions, got, step.want)
		}
	}
}

// Pages and partitions do not share their memory of forms, and a page that is
// gone is forgotten.
func TestFormsForgetPagesThatAreGone(t *testing.T) {
	f := newForms(2, 1000)
	r := f.begin(0)
	r.sketches(1, 5000)
	r.sketches(2, 5000)
	r.end()
	other := f.begin(1)
	if other.sketches(1, 950) {
		t.Error("a page of another partition is a sketch, want a list")
	}
	other.end()
	r = f.begin(0)
	r.sketches(1, 5000) // page 2 is not met
	r.end()
	if got := len(f.sketched[0]); got != 1 {
		t.Errorf("got %d pages remembered, want 1", got)
	}
}
