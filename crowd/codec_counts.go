package crowd

import (
	"fmt"
	"slices"

	"github.com/headcount-live/headcount"
)

// A page of packed counts is
//
//	byte        bits 0-2 bytes of the key's distance, less one
//	            bit 3    a sketch took part
//	            bits 4-7 the count, if 1 to 15, otherwise 0
//	1-8 bytes   distance from the key before, little endian
//	uvarint     the count, if not said above
//
// which makes 7 bytes for most of a million pages in 64 partitions.

// Counts is how many are on each page of one partition. Pages that are not in it
// have nobody. It takes 12 bytes a page. It never changes once made.
type Counts struct {
	keys    []PageKey // ascending
	tallies []uint32  // count * 2, plus 1 if approximate
}

// Len returns how many pages have viewers.
func (c *Counts) Len() int { return len(c.keys) }

// Lookup returns the tally of a page of the partition, zero for one that nobody
// is on.
func (c *Counts) Lookup(page PageKey) Tally {
	if i, found := slices.BinarySearch(c.keys, page); found {
		return c.at(i)
	}
	return Tally{}
}

// All calls yield with each page by ascending key, until it returns false.
func (c *Counts) All(yield func(PageKey, Tally) bool) {
	for i, key := range c.keys {
		if !yield(key, c.at(i)) {
			return
		}
	}
}

func (c *Counts) at(i int) Tally {
	return Tally{Count: int(c.tallies[i] >> 1), Approx: c.tallies[i]&1 != 0}
}

// maxCount is the largest count that a tally holds.
const maxCount = 1<<31 - 1

// add appends a page beyond all others.
func (c *Counts) add(page PageKey, t Tally) {
	packed := uint32(min(t.Count, maxCount)) << 1
	if t.Approx {
		packed |= 1
	}
	c.keys = append(c.keys, page)
	c.tallies = append(c.tallies, packed)
}

const (
	flagApprox       = 1 << 3
	countsSmallShift = 4
	countsSmallMost  = 15
)

// AppendCounts appends the packed form of a partition's counts to b.
func (m *Merger) AppendCounts(b []byte, partition int, c *Counts) []byte {
	w := m.header(partition).writer(b, countsMagic)
	for key, t := range c.All {
		flags, small := byte(0), byte(0)
		if t.Approx {
			flags = flagApprox
		}
		if t.Count <= countsSmallMost {
			small = byte(t.Count)
		}
		w.page(key, flags|small<<countsSmallShift, small, t.Count)
	}
	return w.finish()
}

// ReadCounts returns the counts of a value from a store. The error is
// [ErrForeignKey] for another hash key; any input that AppendCounts would not
// write is an error too.
func (m *Merger) ReadCounts(v headcount.PartitionValue) (*Counts, error) {
	r, err := m.header(v.Partition).open(v.Data, countsMagic)
	if err == nil {
		var c *Counts
		if c, err = r.counts(); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("counts of partition %d by node %s: %w", v.Partition, v.Node, err)
}

func (r *pageReader) counts() (*Counts, error) {
	c := &Counts{keys: make([]PageKey, 0, r.left), tallies: make([]uint32, 0, r.left)}
	for r.left > 0 && !r.failed {
		flags := r.page()
		n := r.count(flags>>countsSmallShift, countsSmallMost)
		if n > maxCount {
			r.fail()
		}
		c.add(r.key, Tally{Count: n, Approx: flags&flagApprox != 0})
	}
	return c, r.close()
}
