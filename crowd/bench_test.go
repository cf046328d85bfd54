package crowd

import (
	"fmt"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
)

// benchCrowd returns a Crowd of so many sessions, ten a page, that reported once.
func benchCrowd(b *testing.B, sessions int) (c *Crowd, beats []Beat) {
	b.Helper()
	c, err := New(Options{
		Store:  memory.NewCounts(6*time.Second, time.Now),
		Hasher: headcount.NewHasher([]byte("key")),
		Window: maxWindow,
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range sessions {
		beats = append(beats, Beat{fmt.Sprintf("product/%016x", i*7919%sessions/10), fmt.Sprintf("session-%012x", i)})
	}
	c.BeatBatch(beats, Visitor{})
	if err := c.pass(b.Context(), true); err != nil {
		b.Fatal(err)
	}
	return c, beats
}

var benchSizes = []int{100_000, 1_000_000}

func BenchmarkBeat(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, beats := benchCrowd(b, n)
			i := 0
			for b.Loop() {
				c.Beat(beats[i].Page, beats[i].Session, Visitor{})
				i = (i + 7919) % n // far enough that no cache knows it
			}
		})
	}
}

func BenchmarkBeatBatch(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, beats := benchCrowd(b, n)
			i := 0
			for b.Loop() {
				c.BeatBatch(beats[i:i+1000], Visitor{})
				i = (i + 1000) % (n - 1000)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/beat")
		})
	}
}

// BenchmarkCome is a session that comes and leaves: two changes of its page.
func BenchmarkCome(b *testing.B) {
	c, _ := benchCrowd(b, 100_000)
	for b.Loop() {
		c.Beat("product/0000000000000001", "newcomer", Visitor{})
		c.Leave("product/0000000000000001", "newcomer")
	}
}

func BenchmarkCount(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, beats := benchCrowd(b, n)
			ctx, i := b.Context(), 0
			for b.Loop() {
				c.Count(ctx, beats[i].Page)
				i = (i + 7919) % n
			}
		})
	}
}

// BenchmarkSweep is what expiry costs a report when nobody expires.
func BenchmarkSweep(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, _ := benchCrowd(b, n)
			for b.Loop() {
				c.sweep()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/session")
		})
	}
}

// BenchmarkTell is what 10,000 readers of 10,000 pages cost a report.
func BenchmarkTell(b *testing.B) {
	c, beats := benchCrowd(b, 100_000)
	for i := range 10_000 {
		r := c.Subscribe(b.Context(), beats[i].Page)
		b.Cleanup(r.Close)
	}
	for b.Loop() {
		c.tell()
	}
}
