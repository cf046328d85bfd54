package gate_test

import (
	"fmt"
	"testing"

	"github.com/headcount-live/headcount/gate"
)

// BenchmarkHeartbeat renews the streams of 1,000 accounts in turn, in one piece
// and in batches.
func BenchmarkHeartbeat(b *testing.B) {
	h := newHouse(b)
	reqs := make([]gate.HeartbeatRequest, 1000)
	for i := range reqs {
		account := fmt.Sprintf("%010d", i)
		reqs[i] = gate.HeartbeatRequest{Account: account, StreamID: h.play(account, "tv")}
	}
	b.Run("single", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := h.Heartbeat(b.Context(), &reqs[i%len(reqs)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("batch of 1000", func(b *testing.B) {
		b.ReportAllocs()
		results := make([]gate.BeatResult, len(reqs))
		for b.Loop() {
			h.HeartbeatBatch(b.Context(), reqs, results)
			if results[0].Err != nil {
				b.Fatal(results[0].Err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(reqs)), "ns/beat")
	})
}

// BenchmarkPlay lets two devices of each of 1,000 accounts press play in turn:
// each play takes over the device's stream of before.
func BenchmarkPlay(b *testing.B) {
	h := newHouse(b)
	reqs := make([]*gate.PlayRequest, 2000)
	for i := range reqs {
		reqs[i] = request(fmt.Sprintf("%010d", i/2), fmt.Sprintf("device %d", i%2))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := h.Play(b.Context(), reqs[i%len(reqs)]); err != nil {
			b.Fatal(err)
		}
	}
}
