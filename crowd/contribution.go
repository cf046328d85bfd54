package crowd

import (
	"math/bits"
	"slices"

	"github.com/headcount-live/headcount/crowd/sketch"
)

// PageKey names a page inside the fleet: the first 64 bits of
// [headcount.Hasher.Page]. The hash is keyed, so nobody can search for two pages
// with one key, and among 10 million pages the odds that any two share one are 3
// in a million: a second word would make every small page's entry half as large
// again for nothing.
type PageKey uint64

// Partition returns which of so many partitions holds the page. A partition is a
// range of keys, so keys in order are partitions in order.
func (k PageKey) Partition(partitions int) int {
	hi, _ := bits.Mul64(uint64(k), uint64(partitions))
	return int(hi)
}

// Local is this node's window as snapshots and merges read it, while beats go on.
// Each call sees its page, or each page of its partition, at one moment.
type Local interface {
	// AppendPages appends every page of a partition that has live sessions, in any
	// order.
	AppendPages(dst []LocalPage, partition, partitions int) []LocalPage

	// AppendSessions appends the 64-bit hash ([headcount.Hasher.Session]) of every
	// live session of a page, each once, in any order; none for an unknown page.
	AppendSessions(dst []uint64, page PageKey) []uint64
}

// LocalPage is a page and how many live sessions this node hears on it.
type LocalPage struct {
	Page     PageKey
	Sessions int
}

// shortHashes cuts session hashes to the bits that travel, in place, and returns
// them ascending and distinct. 48 bits are what a sketch reads, and enough for a
// list: a page that the fleet counts from lists of 50,000 viewers together is
// expected to miss 50,000^2 / 2^49 = 0.000004 of them.
func shortHashes(sessions []uint64) []uint64 {
	for i := range sessions {
		sessions[i] &^= 1<<(64-sketch.HashBits) - 1
	}
	slices.Sort(sessions)
	return slices.Compact(sessions)
}

// forms decides whether this node speaks of a page as a list or as a sketch, and
// remembers what it chose, so that a page near the threshold does not flap: a
// sketch above the threshold, a list again only below 0.9 of it.
type forms struct {
	threshold int
	sketched  []map[PageKey]struct{} // by partition
}

func newForms(partitions, threshold int) forms {
	return forms{threshold, make([]map[PageKey]struct{}, partitions)}
}

// round is one pass over all live pages of a partition. Pages that it did not
// meet are forgotten at its end.
type round struct {
	forms     *forms
	partition int
	sketched  map[PageKey]struct{}
}

func (f *forms) begin(partition int) round { return round{forms: f, partition: partition} }

// sketches reports whether a page of so many sessions goes as a sketch.
func (r *round) sketches(page PageKey, sessions int) bool {
	threshold := r.forms.threshold
	if sessions*10 < threshold*9 {
		return false
	}
	if sessions <= threshold {
		if _, was := r.forms.sketched[r.partition][page]; !was {
			return false
		}
	}
	if r.sketched == nil {
		r.sketched = map[PageKey]struct{}{}
	}
	r.sketched[page] = struct{}{}
	return true
}

func (r *round) end() { r.forms.sketched[r.partition] = r.sketched }
