package sketch

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// hashOf is a good 64-bit hash (the finaliser of SplitMix64) of the i-th viewer
// under a seed.
func hashOf(seed, i uint64) uint64 {
	h := seed*0xd1342543de82ef95 + i*0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func filled(seed uint64, n int) *Sketch {
	s := new(Sketch)
	for i := range n {
		s.Insert(hashOf(seed, uint64(i)))
	}
	return s
}

// The zero value is an empty sketch, and so is one that was reset.
func TestAnEmptySketchEstimatesZero(t *testing.T) {
	s := new(Sketch)
	if got := s.Estimate(); got != 0 || !s.Empty() {
		t.Errorf("zero value: got %v, empty %v, want 0, true", got, s.Empty())
	}
	s.Insert(1)
	if got := s.Estimate(); math.Abs(got-1) > 0.01 || s.Empty() {
		t.Errorf("one hash: got %v, empty %v, want about 1, false", got, s.Empty())
	}
	s.Reset()
	if *s != (Sketch{}) {
		t.Error("a sketch that was reset must be as new")
	}
}

// The first 14 bits choose the register, the zeros that follow make its value,
// and the last 16 bits of a hash change nothing.
func TestInsertReadsTheFirst48Bits(t *testing.T) {
	for _, tt := range []struct {
		name     string
		hash     uint64
		register int
		value    uint8
	}{
		{"all zero", 0, 0, 35},
		{"first bit after the register", 1 << 49, 0, 1},
		{"last bit that counts", 1 << 16, 0, 34},
		{"a bit that does not count", 1 << 15, 0, 35},
		{"all ones", math.MaxUint64, Registers - 1, 1},
		{"register 5", 5<<50 | 1<<47, 5, 3},
	} {
		s := new(Sketch)
		s.Insert(tt.hash)
		if got := s.registers[tt.register]; got != tt.value {
			t.Errorf("%s: register %d holds %d, want %d", tt.name, tt.register, got, tt.value)
		}
	}
}

// Merging is idempotent, commutative and associative, equals inserting
// everything into one sketch, and keeps the histogram that of the registers.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash := rapid.Custom(func(t *rapid.T) uint64 {
			return hashOf(1, rapid.Uint64Range(0, 50).Draw(t, "viewer"))
		})
		hashes := rapid.SliceOfN(hash, 0, 60)
		a, b, c := hashes.Draw(t, "a"), hashes.Draw(t, "b"), hashes.Draw(t, "c")
		of := func(groups ...[]uint64) *Sketch {
			s := new(Sketch)
			for _, group := range groups {
				for _, h := range group {
					s.Insert(h)
				}
			}
			return s
		}
		merged := func(first *Sketch, others ...*Sketch) *Sketch {
			s := first.Clone()
			for _, o := range others {
				s.Merge(o)
			}
			return s
		}
		sa, sb, sc := of(a), of(b), of(c)
		for law, pair := range map[string][2]*Sketch{
			"idempotent":                {merged(sa, sa), sa},
			"commutative":               {merged(sa, sb), merged(sb, sa)},
			"associative":               {merged(merged(sa, sb), sc), merged(sa, merged(sb, sc))},
			"equal to inserting all":    {merged(sa, sb, sc), of(a, b, c)},
			"neutral with an empty one": {merged(sa, new(Sketch)), sa},
		} {
			if *pair[0] != *pair[1] {
				t.Errorf("merging is not %s", law)
			}
		}
		checkHistogram(t, merged(sa, sb, sc))
	})
}

func checkHistogram(t interface{ Errorf(string, ...any) }, s *Sketch) {
	var want [values]int32
	for _, v := range s.registers {
		want[v]++
	}
	want[0] -= Registers
	if s.count != want {
		t.Errorf("histogram: got %v, want %v", s.count, want)
	}
}

// Large sketches keep the laws too, where whole words of registers are equal.
func TestMergeOfLargeSketches(t *testing.T) {
	got := filled(1, 100_000)
	got.Merge(filled(2, 150_000))
	want := filled(1, 100_000)
	for i := range 150_000 {
		want.Insert(hashOf(2, uint64(i)))
	}
	if *got != *want {
		t.Error("a merge of two large sketches differs from inserting all")
	}
	checkHistogram(t, got)
}

// Estimating changes nothing, and neither it nor inserting, merging and
// resetting allocates.
func TestEstimateNeitherMutatesNorAllocates(t *testing.T) {
	s, o := filled(1, 5000), filled(2, 5000)
	before := s.Clone()
	first, second := s.Estimate(), s.Estimate()
	if *s != *before || first != second {
		t.Error("an estimate must not change the sketch")
	}
	i := uint64(0)
	if got := testing.AllocsPerRun(100, func() {
		i++
		s.Insert(hashOf(3, i))
		s.Merge(o)
		s.Estimate()
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// Registers at their largest value still give a finite estimate.
func TestAFullSketchIsFinite(t *testing.T) {
	s := new(Sketch)
	for i := range uint64(Registers) {
		s.Insert(i << 50)
	}
	if got := s.Estimate(); math.IsInf(got, 0) && s.count[maxValue] != Registers || got < 1e12 {
		t.Errorf("got %v, want a number above 10^12", got)
	}
}
