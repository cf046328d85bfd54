package crowd

import (
	"testing"

	"github.com/headcount-live/headcount"
)

// One partition of 64 of a node that hears 10 million sessions on a million
// pages: 15,600 pages of one to eleven sessions, and 16 hot ones of 4,000.
const (
	benchPages    = 15_600
	benchHot      = 16
	benchHotSize  = 4000
	benchSessions = benchPages*6 + benchHot*benchHotSize
)

// benchWindow fills a real window; skip makes the sessions of another node, of
// which half are the same.
func benchWindow(skip int) *view {
	w := newWindow(1, 30_000, 1<<20, 1<<24)
	fill := func(page, sessions int) {
		id := pageID{PageKey(mixed(page)), mixed(-page - 2)}
		for i := range sessions {
			s := w.sight(id, mixed(1_000_000+page*benchHotSize+i+skip*sessions/2))
			w.add(&s, 1)
		}
	}
	for page := range benchPages {
		fill(page, 1+page%11)
	}
	for hot := range benchHot {
		fill(benchPages+hot, benchHotSize)
	}
	return newView(w)
}

// A snapshot costs one copy of the partition, a sort of the small lists and an
// encoding of the sketches.
func BenchmarkAppendSnapshot(b *testing.B) {
	m, local := NewMerger(1, 1, 1000), benchWindow(0)
	var buf []byte
	for b.Loop() {
		buf = m.AppendSnapshot(buf[:0], local, 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSessions, "ns/session")
	b.ReportMetric(float64(len(buf))/benchSessions, "bytes/session")
}

// A merge with two other nodes unites every page of three.
func BenchmarkMerge(b *testing.B) {
	m, local := NewMerger(1, 1, 1000), benchWindow(0)
	others := []Snapshot{open(b, m, benchWindow(1), 0, 2), open(b, m, benchWindow(2), 0, 3)}
	for b.Loop() {
		if _, err := m.Merge(local, 0, others); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(benchPages+benchHot), "ns/page")
}

// A node alone counts without looking at a single session.
func BenchmarkMergeAlone(b *testing.B) {
	m, local := NewMerger(1, 1, 1000), benchWindow(0)
	for b.Loop() {
		if _, err := m.Merge(local, 0, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(benchPages+benchHot), "ns/page")
}

// Packed counts are what every reading node fetches when they changed.
func BenchmarkReadCounts(b *testing.B) {
	m, local := NewMerger(1, 1, 1000), benchWindow(0)
	c, err := m.Merge(local, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	v := headcount.PartitionValue{Data: m.AppendCounts(nil, 0, c)}
	for b.Loop() {
		if _, err := m.ReadCounts(v); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(v.Data))/float64(c.Len()), "bytes/page")
}

func BenchmarkLookup(b *testing.B) {
	m := NewMerger(1, 1, 1000)
	c, err := m.Merge(benchWindow(0), 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		i++
		c.Lookup(PageKey(mixed(i % benchPages)))
	}
}
