package crowd

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/headcount-live/headcount"
)

// open opens the snapshot of a window as another node would send it.
func open(tb testing.TB, m *Merger, w Local, partition int, node headcount.NodeID) Snapshot {
	tb.Helper()
	sender := NewMerger(m.fingerprint, m.partitions, m.forms.threshold)
	s, err := m.OpenSnapshot(snapshotValue(sender, w, partition, node))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Whoever hears whom, every page counts its distinct viewers: exactly where lists
// or one node alone speak, within the promised error where a sketch takes part.
func TestMergeCountsDistinctViewers(t *testing.T) {
	const page = PageKey(42)
	for _, tt := range []struct {
		name       string
		local      []uint64
		others     [][]uint64
		want       int
		wantApprox bool
	}{
		{"nobody", nil, nil, 0, false},
		{"this node alone", viewers(0, 3), nil, 3, false},
		{"this node alone, many", viewers(0, 5000), [][]uint64{nil, nil}, 5000, false},
		{"another node alone", nil, [][]uint64{viewers(0, 3)}, 3, false},
		{"another node alone, many", nil, [][]uint64{nil, viewers(0, 5000)}, 5000, false},
		{"the same sessions on both", viewers(0, 30), [][]uint64{viewers(0, 30)}, 30, false},
		{"some sessions on both", viewers(0, 30), [][]uint64{viewers(20, 50)}, 50, false},
		{"lists up to the threshold", viewers(0, 1000), [][]uint64{viewers(500, 1500), viewers(1000, 2000)}, 2000, false},
		{"list and sketch", viewers(0, 1000), [][]uint64{viewers(500, 4000)}, 4000, true},
		{"sketch and list", viewers(500, 4000), [][]uint64{viewers(0, 1000)}, 4000, true},
		{"sketches of all", viewers(0, 3000), [][]uint64{viewers(1000, 6000), viewers(2000, 7000)}, 7000, true},
		{"sketches elsewhere", nil, [][]uint64{viewers(0, 3000), viewers(2000, 7000)}, 7000, true},
	} {
		m := NewMerger(1, 1, 1000)
		local := setWindow{}
		local.add(page, tt.local...)
		var others []Snapshot
		for i, sessions := range tt.others {
			w := setWindow{}
			w.add(page, sessions...)
			others = append(others, open(t, m, w, 0, headcount.NodeID(i+2)))
		}
		c, err := m.Merge(local, 0, others)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Lookup(page)
		if got.Approx != tt.wantApprox || !tt.wantApprox && got.Count != tt.want {
			t.Errorf("%s: got %v, want %d, approximate %v", tt.name, got, tt.want, tt.wantApprox)
		}
		if math.Abs(float64(got.Count-tt.want)) > 0.04*float64(tt.want) {
			t.Errorf("%s: got %d, want %d within 4 %%", tt.name, got.Count, tt.want)
		}
		if want := min(tt.want, 1); c.Len() != want {
			t.Errorf("%s: got %d pages, want %d", tt.name, c.Len(), want)
		}
	}
}

// Over many pages and nodes, of which each hears a part of each page, the counts
// are those of plain sets.
func TestMergeMatchesSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		partitions := rapid.IntRange(1, 3).Draw(t, "partitions")
		nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
		windows, truth := make([]setWindow, nodes), setWindow{}
		for i := range windows {
			windows[i] = setWindow{}
		}
		for range rapid.IntRange(0, 80).Draw(t, "beats") {
			page := PageKey(mixed(rapid.IntRange(0, 9).Draw(t, "page")))
			session := mixed(rapid.IntRange(0, 20).Draw(t, "session"))
			windows[rapid.IntRange(0, nodes-1).Draw(t, "node")].add(page, session)
			truth.add(page, session)
		}
		m := NewMerger(1, partitions, 1000)
		pages := 0
		for p := range partitions {
			var others []Snapshot
			for i := 1; i < nodes; i++ {
				v := snapshotValue(NewMerger(1, partitions, 1000), windows[i], p, headcount.NodeID(i))
				s, err := m.OpenSnapshot(v)
				if err != nil {
					t.Fatal(err)
				}
				others = append(others, s)
			}
			c, err := m.Merge(windows[0], p, others)
			if err != nil {
				t.Fatal(err)
			}
			for key, got := range c.All {
				if want := (Tally{Count: len(truth[key])}); got != want {
					t.Fatalf("page %x: got %v, want %v", uint64(key), got, want)
				}
			}
			pages += c.Len()
		}
		if pages != len(truth) {
			t.Fatalf("got %d pages, want %d", pages, len(truth))
		}
	})
}

// Viewers who leave between the two looks at the window make a page smaller, not
// the snapshot wrong.
func TestPagesMayEmptyWhileTheyAreRead(t *testing.T) {
	m := NewMerger(1, 1, 1000)
	w, keys := crowdOf(2, 3)
	leaving := leavingWindow{w, keys[0]}
	got, err := readAll(t, m, snapshotValue(m, leaving, 0, 1))
	if err != nil || len(got) != 1 || got[keys[1]] != 3 {
		t.Errorf("got %v (error %v), want only the page that still has viewers", got, err)
	}
	other := setWindow{}
	other.add(keys[0], viewers(0, 5)...)
	c, err := m.Merge(leaving, 0, []Snapshot{open(t, m, other, 0, 2)})
	if err != nil || c.Lookup(keys[0]) != (Tally{Count: 5}) {
		t.Errorf("got %v (error %v), want the 5 whom the other node hears", c.Lookup(keys[0]), err)
	}
	c, err = m.Merge(emptyPage(keys[0]), 0, nil)
	if err != nil || c.Len() != 0 {
		t.Errorf("got %d pages (error %v), want none of one that nobody is on", c.Len(), err)
	}
}

// emptyPage is a window that lists one page although nobody is on it.
type emptyPage PageKey

func (w emptyPage) AppendPages(dst []LocalPage, _, _ int) []LocalPage {
	return append(dst, LocalPage{Page: PageKey(w)})
}

func (w emptyPage) AppendSessions(dst []uint64, _ PageKey) []uint64 { return dst }

// leavingWindow lists a page whose viewers are gone when they are asked for.
type leavingWindow struct {
	setWindow
	empty PageKey
}

func (w leavingWindow) AppendSessions(dst []uint64, page PageKey) []uint64 {
	if page == w.empty {
		return dst
	}
	return w.setWindow.AppendSessions(dst, page)
}

// A snapshot that was cut, or whose sketch is none, gives an error that names its
// node, and no counts.
func TestMergeRefusesDamagedSnapshots(t *testing.T) {
	m := NewMerger(1, 1, 10)
	w, _ := crowdOf(1, 50, 3)
	whole := snapshotValue(m, w, 0, 0xabc)
	damaged := map[string][]byte{}
	for cut := 18; cut < len(whole.Data); cut++ {
		damaged[fmt.Sprintf("cut to %d of %d bytes", cut, len(whole.Data))] = whole.Data[:cut]
	}
	noSketch := snapshotWriter{m.header(0).writer(nil, snapshotMagic)}
	noSketch.sketch(1<<63, []byte("no sketch"), 50)
	damaged["no sketch"] = noSketch.finish()
	w.add(1<<63, 1)
	for name, data := range damaged {
		v := whole
		v.Data = data
		s, err := m.OpenSnapshot(v)
		if err == nil {
			_, err = m.Merge(w, 0, []Snapshot{s})
		}
		if err == nil || !strings.Contains(err.Error(), "0000000000000abc") {
			t.Errorf("%s: got error %v, want one that names the node", name, err)
		}
	}
}
