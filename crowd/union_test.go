package crowd

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/headcount-live/headcount/crowd/sketch"
)

// said is what one node says of a page: whom it hears, and in which form.
type said struct {
	sessions []uint64 // short, ascending, distinct
	asSketch bool
}

func (s said) addTo(u *Union) {
	if !s.asSketch {
		u.AddList(s.sessions)
		return
	}
	var k sketch.Sketch
	for _, h := range s.sessions {
		k.Insert(h)
	}
	u.AddSketch(&k, len(s.sessions))
}

func drawSaid(t *rapid.T, name string) said {
	from := rapid.IntRange(0, 3000).Draw(t, name+" from")
	n := rapid.SampledFrom([]int{0, 1, 3, 40, 900, 2500}).Draw(t, name+" viewers")
	return said{shortHashes(viewers(from, from+n)), n > 0 && rapid.Bool().Draw(t, name+" as sketch")}
}

func unionOf(contributions ...said) *Union {
	u := new(Union)
	for _, c := range contributions {
		c.addTo(u)
	}
	return u
}

func everyone(contributions ...said) []uint64 {
	var all []uint64
	for _, c := range contributions {
		all = append(all, c.sessions...)
	}
	return shortHashes(all)
}

// Whatever the forms, the order of contributions makes no difference; lists
// alone count exactly; and once sketches take part, the result is that of one
// sketch of everybody, held between what must be and what can be.
func TestUnionLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawSaid(t, "a"), drawSaid(t, "b"), drawSaid(t, "c")
		got := unionOf(a, b, c).Tally()
		for _, order := range [][]said{{a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}} {
			if other := unionOf(order...).Tally(); other != got {
				t.Fatalf("another order gives %v, want %v", other, got)
			}
		}
		asked := unionOf(a, b)
		asked.Tally() // in between, which folds what it has
		c.addTo(asked)
		if again := asked.Tally(); again != got {
			t.Fatalf("asked in between: got %v, want %v", again, got)
		}
		checkTally(t, got, a, b, c)
	})
}

func checkTally(t *rapid.T, got Tally, contributions ...said) {
	all := everyone(contributions...)
	var sketches, speakers, largest, sum int
	var lists []said
	for _, c := range contributions {
		if len(c.sessions) > 0 {
			speakers++
		}
		if !c.asSketch {
			lists = append(lists, c)
			continue
		}
		sketches++
		largest = max(largest, len(c.sessions))
		sum += len(c.sessions)
	}
	if sketches == 0 || speakers <= 1 {
		if want := (Tally{Count: len(all)}); got != want {
			t.Fatalf("got %v, want exactly %v", got, want)
		}
		return
	}
	var k sketch.Sketch
	for _, h := range all {
		k.Insert(h)
	}
	listed := len(everyone(lists...))
	want := min(max(int(math.Round(k.Estimate())), largest, listed), sum+listed)
	if got != (Tally{Count: want, Approx: true}) {
		t.Fatalf("got %v, want about %d", got, want)
	}
}

// Saying a list again changes nothing. Saying a sketch again leaves the set as
// it was; only the upper bound, which counts on nodes saying things once, loosens.
func TestUnionIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSaid(t, "a"), drawSaid(t, "b")
		once, twice := unionOf(a, b), unionOf(a, b, b)
		got, want := twice.Tally(), once.Tally()
		if once.sketch != twice.sketch || !slices.Equal(once.hashes, twice.hashes) && !b.asSketch {
			t.Fatal("saying it again changed the set")
		}
		if !b.asSketch && got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
		if truth := len(everyone(a, b)); math.Abs(float64(got.Count-truth)) > 1+0.04*float64(truth) {
			t.Fatalf("got %d, want %d within 4 %%", got.Count, truth)
		}
	})
}

// A few viewers on another node add just themselves to a large page, not the
// error of its sketch.
func TestAFewMoreAddAFewMore(t *testing.T) {
	large := said{shortHashes(viewers(0, 5000)), true}
	if got := unionOf(large).Tally(); got != (Tally{Count: 5000}) {
		t.Errorf("alone: got %v, want exactly 5000", got)
	}
	few := said{sessions: shortHashes(viewers(10_000, 10_003))}
	if got := unionOf(large, few).Tally(); !got.Approx || got.Count < 5000 || got.Count > 5003 {
		t.Errorf("with three more: got %v, want 5000 to 5003, approximate", got)
	}
	if got := unionOf(large, said{}).Tally(); got != (Tally{Count: 5000}) {
		t.Errorf("with a node that hears nobody: got %v, want exactly 5000", got)
	}
}

// A union that was reset is as new, and one that works in its own memory
// allocates nothing.
func TestUnionReset(t *testing.T) {
	u := unionOf(said{shortHashes(viewers(0, 2000)), true}, said{sessions: shortHashes(viewers(0, 500))})
	u.Tally()
	u.Reset()
	few := shortHashes(viewers(0, 3))
	u.AddList(few)
	if got := u.Tally(); got != (Tally{Count: 3}) {
		t.Errorf("after a reset: got %v, want exactly 3", got)
	}
	if u.sketch != (sketch.Sketch{}) {
		t.Error("after a reset the sketch is not empty")
	}
	if got := testing.AllocsPerRun(10, func() { u.Reset(); u.AddList(few); u.Tally() }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// Two nodes that share a page's viewers grow across the threshold and back
// without a visible step: over 100 sets of viewers, what is shown stays within
// the promised error all the way, and the switch itself moves it by no more.
func TestNoStepAtTheThreshold(t *testing.T) {
	const seeds, threshold = 100, 1000
	var before, after float64
	for seed := range seeds {
		from := seed * 1_000_000
		for _, n := range []int{900, 999, 1000, 1001, 1100, 2000} {
			sketched := n > threshold
			a := said{shortHashes(viewers(from, from+n)), sketched}
			b := said{shortHashes(viewers(from+n*2/3, from+n*2/3+n)), sketched} // a third on both
			truth := float64(len(everyone(a, b)))
			off := float64(unionOf(a, b).Tally().Count)/truth - 1
			switch {
			case !sketched && off != 0:
				t.Errorf("seed %d, %d a node: off by %+.2f %%, want exact", seed, n, 100*off)
			case math.Abs(off) > 0.04:
				t.Errorf("seed %d, %d a node: off by %+.2f %%, want within 4", seed, n, 100*off)
			}
			if n == 1000 {
				before += off * off
			}
			if n == 1001 {
				after += off * off
			}
		}
	}
	if step := 100 * math.Sqrt((before+after)/seeds); step > 1 {
		t.Errorf("the switch moves the count by %.2f %% rms, want at most 1", step)
	}
}
