package crowd

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const hotPage = PageKey(0x9abc) << 48

// A session that several nodes hear counts once, and every node shows the same.
func TestFleetCountsASessionOnce(t *testing.T) {
	f := newFleet(t, 3)
	for i, n := range f.nodes {
		n.window.add(hotPage, viewers(0, 10)...)          // heard by all
		n.window.add(hotPage, viewers(100*i, 100*i+5)...) // heard by one, the first five by all
	}
	f.settle()
	f.want("settled", hotPage, 20)
	delete(f.nodes[0].window[hotPage], mixed(0)) // still heard by two
	f.settle()
	f.want("one node lost a session that others hear", hotPage, 20)
	clear(f.nodes[2].window)
	clear(f.nodes[1].window)
	f.settle()
	f.want("only one node hears anybody", hotPage, 9)
}

// Lists, sketches and both together count the same crowd, exactly while no sketch
// takes part; a large page that one node alone hears stays exact.
func TestFleetMixesForms(t *testing.T) {
	f := newFleet(t, 3)
	a, b, c := f.nodes[0], f.nodes[1], f.nodes[2]
	a.window.add(hotPage, viewers(0, 5000)...)
	f.settle()
	f.want("one node hears 5,000", hotPage, 5000)
	b.window.add(hotPage, viewers(5000, 5003)...)
	f.settle()
	for i, n := range f.nodes {
		got := n.Known(hotPage.Partition(fleetPartitions)).Lookup(hotPage)
		if !got.Approx || got.Count < 5000 || got.Count > 5003 {
			t.Errorf("another hears three more: node %d shows %v, want 5000 to 5003, approximate", i, got)
		}
	}
	c.window.add(hotPage, viewers(4000, 9000)...)
	f.settle()
	for i, n := range f.nodes {
		if got := n.shows(hotPage); got < 9000*96/100 || got > 9000*104/100 {
			t.Errorf("two sketches: node %d shows %d, want 9000 within 4 %%", i, got)
		}
	}
	clear(a.window)
	clear(c.window)
	f.settle()
	f.want("only the three are left", hotPage, 3)
}

// A node that is killed takes its viewers out of the count one freshness and a
// report later, whoever owned the partition; until then the count stands, and
// while viewers move to other nodes nobody counts twice.
func TestFleetForgetsAKilledNode(t *testing.T) {
	for victim := range 2 { // one of the two owns the page
		f := newFleet(t, 2)
		dying, other := f.nodes[victim], f.nodes[1-victim]
		dying.window.add(hotPage, viewers(0, 40)...)
		other.window.add(hotPage, viewers(40, 50)...)
		f.settle()
		f.want("before", hotPage, 50)
		f.kill(dying)
		var shown []int
		for i := range 8 {
			if i < 4 { // ten of its viewers a half interval come to the other node
				other.window.add(hotPage, viewers(10*i, 10*i+10)...)
			}
			f.step()
			shown = append(shown, other.shows(hotPage))
		}
		for _, got := range shown {
			if got != 50 {
				t.Errorf("victim %d: shows %v, want 50 throughout", victim, shown)
				break
			}
		}
		f.kill(other) // and back: somebody else hears ten of them
		last := f.join(1)
		last.window.add(hotPage, viewers(0, 10)...)
		for range (fleetFreshness + 2*halfInterval) / halfInterval {
			f.step()
		}
		f.want("one freshness and a report later", hotPage, 10)
	}
}

// A node that joins makes no count dip or double, although it owns partitions
// from its first moment and has heard nobody's snapshot yet.
func TestFleetWelcomesANode(t *testing.T) {
	f := newFleet(t, 2)
	pages := make([]PageKey, 64)
	for i := range pages {
		pages[i] = PageKey(mixed(i))
		f.nodes[0].window.add(pages[i], viewers(0, 10)...)
		f.nodes[1].window.add(pages[i], viewers(5, 20)...)
	}
	f.settle()
	f.join(1)
	for i := range 8 {
		f.step()
		for _, page := range pages {
			for j, n := range f.nodes {
				if got := n.shows(page); got != 20 && (got != -1 || j != 2) {
					t.Fatalf("step %d: node %d shows %d, want 20", i, j, got)
				}
			}
		}
	}
	f.want("settled", pages[0], 20)
}

// A store that comes back empty looks like an empty hotel. The counts stand until
// everybody has said again who is there.
func TestFleetOutlivesAStoreWithoutMemory(t *testing.T) {
	f := newFleet(t, 3)
	for i, n := range f.nodes {
		n.window.add(hotPage, viewers(10*i, 10*i+10)...)
	}
	f.settle()
	f.loseMemory()
	for i := range 12 {
		f.step()
		for j, n := range f.nodes {
			if got := n.shows(hotPage); got != 30 {
				t.Errorf("step %d: node %d shows %d, want 30", i, j, got)
			}
		}
	}
	for _, text := range []string{"counts stand still", "counts go on"} {
		if got := strings.Count(f.nodes[0].log.String(), text); got != 1 {
			t.Errorf("the log says %d times that %s, want once", got, text)
		}
	}
	f.nodes[1].window.add(hotPage, viewers(30, 35)...)
	f.settle()
	f.want("it counts again", hotPage, 35)
}

// While a store is broken the last counts stand and grow old; afterwards they are
// right again within three reports.
func TestFleetOutlivesABrokenStore(t *testing.T) {
	f := newFleet(t, 2)
	f.nodes[0].window.add(hotPage, viewers(0, 10)...)
	f.settle()
	p := hotPage.Partition(fleetPartitions)
	f.store.broken = errors.New("out of reach")
	since := f.now
	for range 10 {
		f.step()
	}
	f.want("broken", hotPage, 10)
	for i, n := range f.nodes {
		if age := f.now.Sub(n.Known(p).AsOf); age < f.now.Sub(since) {
			t.Errorf("node %d believes its count to be %v old, want at least %v", i, age, f.now.Sub(since))
		}
	}
	f.store.broken = nil
	f.nodes[1].window.add(hotPage, viewers(10, 15)...)
	f.settle()
	f.want("whole again", hotPage, 15)
}

// A node under another hash key, or with another number of partitions, is refused,
// which every node says once, and spoils nobody's count; it keeps still rather
// than show its own few as all.
func TestFleetRefusesStrangers(t *testing.T) {
	for name, join := range map[string]func(*fleet) *fleetNode{
		"key":        func(f *fleet) *fleetNode { return f.joinAs(2, fleetPartitions) },
		"partitions": func(f *fleet) *fleetNode { return f.joinAs(1, 2*fleetPartitions) },
	} {
		f := newFleet(t, 2)
		pages := make([]PageKey, 16)
		for i := range pages {
			pages[i] = PageKey(mixed(i))
			f.nodes[0].window.add(pages[i], viewers(0, 10)...)
		}
		f.settle()
		stranger := join(f)
		stranger.window.add(pages[0], viewers(50, 90)...)
		f.settle()
		f.nodes[1].window.add(pages[0], viewers(10, 13)...)
		f.settle()
		for i, n := range f.nodes[:2] {
			for j, page := range pages {
				if got, want := n.shows(page), []int{10, 13}[max(0, 1-j)]; got != want {
					t.Errorf("another %s: node %d, page %d: shows %d, want %d", name, i, j, got, want)
				}
			}
		}
		if got := stranger.shows(pages[0]); got != -1 || !stranger.Holds() {
			t.Errorf("another %s: the stranger shows %d, holds %v, want nothing known, true", name, got, stranger.Holds())
		}
		for i, n := range f.nodes {
			if got, want := strings.Count(n.log.String(), "refused"), []int{1, 1, 2}[i]; got != want {
				t.Errorf("another %s: node %d said %d times that it refuses a node, want %d:\n%s", name, i, got, want, n.log.String())
			}
		}
	}
}

// A leave for a session that another node holds reaches it with the next report,
// once: the session's next beat brings it back.
func TestLeavesTravel(t *testing.T) {
	f := newFleet(t, 2)
	a, b := f.nodes[0], f.nodes[1]
	b.window.add(hotPage, viewers(0, 10)...)
	f.settle()
	a.Leave(hotPage, mixed(3))
	a.Leave(hotPage, mixed(77)) // a stranger
	for range 4 {
		f.step()
	}
	f.want("two reports after the leave", hotPage, 9)
	b.window.add(hotPage, mixed(3))
	f.settle()
	f.want("it came back", hotPage, 10)
}

// Leaves beyond what a note can hold are dropped, old ones make room, and a node
// that is alone keeps none.
func TestLeavesAreBounded(t *testing.T) {
	f := newFleet(t, 1)
	f.settle()
	alone := f.nodes[0]
	alone.Leave(hotPage, 1)
	if got := len(alone.leaves.queue); got != 0 {
		t.Errorf("a node that is alone keeps %d leaves, want 0", got)
	}
	f.join(1)
	f.settle()
	for i := range 2 * maxLeaves {
		alone.Leave(hotPage, uint64(i))
	}
	if got := len(alone.leaves.note(1, fleetPartitions, f.now)); got > 16*maxLeaves+16 {
		t.Errorf("a note takes %d bytes, want at most 64 KiB", got)
	}
	f.now = f.now.Add(fleetFreshness + time.Second)
	if got := len(alone.leaves.note(1, fleetPartitions, f.now)); got > 16 {
		t.Errorf("a note of old leaves takes %d bytes, want none of them", got)
	}
}

// No note makes its reader panic, act on more leaves than it has bytes for, or act
// on one twice.
func FuzzNote(f *testing.F) {
	log := leaveLog{keep: time.Minute}
	f.Add(log.note(1, 8, time.Unix(0, 0)))
	log.add(leave{hotPage, 7, time.Unix(0, 0)})
	f.Add(log.note(1, 8, time.Unix(0, 0)))
	f.Add([]byte{noteVersion, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := readNote(data, 1, 8)
		if err != nil {
			return
		}
		reader, heard := leaveLog{}, 0
		hear := func() { reader.hear(1, n, func(PageKey, uint64) { heard++ }) }
		hear()
		if heard > len(data)/16 {
			t.Fatalf("%d leaves in %d bytes", heard, len(data))
		}
		if once := heard; n.first < 1<<63 {
			if hear(); heard != once {
				t.Fatalf("heard %d leaves again", heard-once)
			}
		}
	})
}

// A node that is alone writes and reads no values at all, and where nothing
// changes none travel: the cost is the calls.
func TestNothingUnchangedTravels(t *testing.T) {
	f := newFleet(t, 1)
	f.nodes[0].window.add(hotPage, viewers(0, 5000)...)
	f.settle()
	f.want("alone", hotPage, 5000)
	if f.store.bytes != 0 {
		t.Errorf("a node that is alone sent %d bytes, want 0", f.store.bytes)
	}
	f.join(1)
	f.join(1)
	f.settle()
	f.store.bytes, f.store.calls = 0, 0
	f.settle()
	if f.store.bytes != 0 {
		t.Errorf("%d bytes travelled although nothing changed, want 0", f.store.bytes)
	}
	if limit := 4 * 3 * fleetPartitions * 3; f.store.calls > limit { // 4 a node, partition and interval
		t.Errorf("%d calls in three intervals, want at most %d", f.store.calls, limit)
	}
}

// A node that departs is out of the count with the next report.
func TestDepartTakesViewersAlong(t *testing.T) {
	f := newFleet(t, 2)
	f.nodes[0].window.add(hotPage, viewers(0, 10)...)
	f.nodes[1].window.add(hotPage, viewers(10, 12)...)
	f.settle()
	gone := f.nodes[0]
	f.kill(gone)
	if err := gone.Depart(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.step()
	f.step()
	f.want("after a report", hotPage, 2)
}

// An answer that was overtaken on its way does not turn a count back.
func TestYoungerCountsStay(t *testing.T) {
	f := newFleet(t, 1)
	x := f.nodes[0].Exchange
	old, young := &Known{AsOf: f.now}, &Known{AsOf: f.now.Add(time.Second)}
	for i, step := range []struct{ learned, want *Known }{{old, old}, {young, young}, {old, young}} {
		x.learn(0, step.learned)
		if x.Known(0) != step.want {
			t.Errorf("step %d: knows counts as of %v, want %v", i, x.Known(0).AsOf, step.want.AsOf)
		}
	}
}

// Whatever nodes and viewers come and go, once nothing happens any more every
// node shows the truth.
func TestFleetComesToTheTruth(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := newFleet(t, 2)
		for range rapid.IntRange(1, 25).Draw(r, "events") {
			node := func() *fleetNode { return f.nodes[rapid.IntRange(0, len(f.nodes)-1).Draw(r, "node")] }
			page := PageKey(mixed(rapid.IntRange(0, 4).Draw(r, "page")))
			session := mixed(rapid.IntRange(0, 15).Draw(r, "session"))
			switch rapid.SampledFrom([]string{"beat", "beat", "beat", "expire", "step", "join", "kill", "lose"}).Draw(r, "event") {
			case "beat":
				node().window.add(page, session)
			case "expire":
				delete(node().window[page], session)
			case "step":
				f.step()
			case "join":
				if len(f.nodes) < 5 {
					f.join(1)
				}
			case "kill":
				if len(f.nodes) > 1 {
					f.kill(node())
				}
			case "lose":
				f.loseMemory()
			}
		}
		for range (2*fleetFreshness + 6*halfInterval) / halfInterval {
			f.step()
		}
		truth := setWindow{}
		for _, n := range f.nodes {
			for page, sessions := range n.window {
				for s := range sessions {
					truth.add(page, s)
				}
			}
		}
		for i := range 5 {
			f.want("settled", PageKey(mixed(i)), len(truth[PageKey(mixed(i))]))
		}
	})
}
