package crowd

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/headcount-live/headcount"
)

// What a fleet shows errs, over 100 keys of the hash that is really used, by at
// most 1 % root mean square, 2 % at the 95th percentile and 4 % at worst, however
// many nodes hear a page and however many viewers two of them share.
func TestUnionAccuracy(t *testing.T) {
	const keys, most = 100, 10_000
	cases := []struct {
		nodes, each int
		shared      float64 // of a node's viewers that the next node hears too
		errs        []float64
	}{
		{nodes: 2, each: 1001, shared: 0},
		{nodes: 2, each: 1001, shared: 0.5},
		{nodes: 2, each: 1500, shared: 0.9},
		{nodes: 2, each: 5000, shared: 0},
		{nodes: 3, each: 4000, shared: 0.5},
		{nodes: 8, each: 1200, shared: 0},
		{nodes: 8, each: 1200, shared: 0.5},
	}
	hashes := make([]uint64, most)
	for key := range keys {
		hasher := headcount.NewHasher(binary.BigEndian.AppendUint64(nil, uint64(key)))
		for i := range hashes {
			hashes[i] = hasher.Session(strconv.Itoa(i))
		}
		for i := range cases {
			c := &cases[i]
			u, step := new(Union), int(float64(c.each)*(1-c.shared))
			for node := range c.nodes {
				said{hashes[node*step:][:c.each], true}.addTo(u)
			}
			truth := float64(step*(c.nodes-1) + c.each)
			c.errs = append(c.errs, 100*math.Abs(float64(u.Tally().Count)/truth-1))
		}
	}
	for _, c := range cases {
		slices.Sort(c.errs)
		squares := 0.0
		for _, e := range c.errs {
			squares += e * e
		}
		rms, p95, worst := math.Sqrt(squares/keys), c.errs[keys*95/100-1], c.errs[keys-1]
		t.Logf("%d nodes of %d, %.0f %% shared: rms %.2f %%, p95 %.2f %%, worst %.2f %%", c.nodes, c.each, 100*c.shared, rms, p95, worst)
		if rms > 1 || p95 > 2 || worst > 4 {
			t.Errorf("%d nodes of %d, %.0f %% shared: rms %.2f %%, p95 %.2f %%, worst %.2f %%; want at most 1, 2, 4",
				c.nodes, c.each, 100*c.shared, rms, p95, worst)
		}
	}
}
