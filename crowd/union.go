package crowd

import (
	"math"
	"slices"

	"github.com/headcount-live/headcount/crowd/sketch"
)

// ErrorPct is the standard error of an approximate count, in percent.
const ErrorPct = 0.81

// Tally is how many distinct viewers a page has, and whether a sketch took part
// in finding out, in which case it is off by [ErrorPct] or so.
type Tally struct {
	Count  int
	Approx bool
}

// Union counts the distinct viewers that several contributions to one page speak
// of. Lists union exactly; once a sketch takes part, lists fold into it. The
// result does not depend on the order. The zero value is empty and ready.
//
// A sketch comes with the exact number it stands for, which is worth more than
// the estimate: a page with one contribution is exact at any size, and a union
// has at least as many viewers as its largest contribution and at most as many
// as all together. The estimate is held between these two, so three viewers on
// another node add three to a page of five thousand, not the sketch's error.
type Union struct {
	hashes   []uint64 // of all lists, with repeats until counted
	sketch   sketch.Sketch
	sketches int
	largest  int // of the numbers beside sketches
	sum      int // of the same
}

// Reset empties the union and keeps its memory.
func (u *Union) Reset() {
	u.hashes = u.hashes[:0]
	if u.sketches > 0 {
		u.sketch.Reset()
	}
	u.sketches, u.largest, u.sum = 0, 0, 0
}

// AddList adds an exact contribution, as hashes whose bits beyond the first
// [sketch.HashBits] are zero, in any order. The slice is copied.
func (u *Union) AddList(hashes []uint64) { u.hashes = append(u.hashes, hashes...) }

// AddSketch adds a contribution of exactly so many sessions.
func (u *Union) AddSketch(s *sketch.Sketch, sessions int) {
	u.sketch.Merge(s)
	u.sketches++
	u.largest = max(u.largest, sessions)
	u.sum += sessions
}

// Tally returns the count of all that was added. It can be asked again, and more
// can be added afterwards.
func (u *Union) Tally() Tally {
	slices.Sort(u.hashes)
	u.hashes = slices.Compact(u.hashes)
	listed := len(u.hashes)
	switch {
	case u.sketches == 0:
		return Tally{Count: listed}
	case u.sketches == 1 && listed == 0:
		return Tally{Count: u.sum}
	}
	for _, h := range u.hashes {
		u.sketch.Insert(h)
	}
	estimate := int(math.Round(u.sketch.Estimate()))
	return Tally{
		Count:  min(max(estimate, u.largest, listed), u.sum+listed),
		Approx: true,
	}
}
