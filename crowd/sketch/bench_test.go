package sketch

import "testing"

func BenchmarkInsert(b *testing.B) {
	s, i := new(Sketch), uint64(0)
	for b.Loop() {
		i++
		s.Insert(hashOf(1, i))
	}
}

func BenchmarkEstimate(b *testing.B) {
	s := filled(1, 100_000)
	for b.Loop() {
		s.Estimate()
	}
}

func BenchmarkMerge(b *testing.B) {
	x, y, s := filled(1, 5000), filled(2, 5000), new(Sketch)
	for b.Loop() {
		*s = *x
		s.Merge(y)
	}
}

func BenchmarkAppendBinary(b *testing.B) {
	s := filled(1, 5000)
	var buf []byte
	for b.Loop() {
		buf, _ = s.AppendBinary(buf[:0])
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

func BenchmarkUnmarshalBinary(b *testing.B) {
	s := filled(1, 5000)
	buf, _ := s.AppendBinary(nil)
	for b.Loop() {
		if err := s.UnmarshalBinary(buf); err != nil {
			b.Fatal(err)
		}
	}
}
