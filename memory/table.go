package memory

import (
	"math/bits"
	"sync/atomic"

	"github.com/headcount-live/headcount/slab"
)

// entry is one slot of a table; a zero tag marks it empty. In the lease table a is
// the cell of the lease and b the moment of its last renewal, the only copy of its
// expiry; in the account table a is the oldest lease and b the newest tombstone.
type entry struct {
	tag  uint64
	a, b uint32
}

const (
	entriesPerBlock = slabBlock / 16
	loadPercent     = 85
	sparsePercent   = 35
	runout          = 256 // slots behind the last home, so that probes never wrap
)

type entries [entriesPerBlock]entry

// table is a hash table with linear probing in fixed blocks outside the heap. The
// home of a tag is found by proportion, so the capacity need not be a power of two:
// it grows by a quarter and stays 68 to 85 % full, and growing streams from the old
// blocks into the new ones in order. A table is not safe for concurrent use.
type table struct {
	pool   *slab.Pool[entries]
	blocks []*entries
	homes  uint64
	n      int
	layout atomic.Pointer[layout] // of blocks and homes, for prefetch
}

func (t *table) at(i int) *entry {
	return &t.blocks[uint(i)/entriesPerBlock][uint(i)%entriesPerBlock]
}

func (t *table) home(tag uint64) int {
	return proportion(tag, t.homes)
}

func proportion(tag, homes uint64) int {
	hi, _ := bits.Mul64(tag, homes)
	return int(hi)
}

func (t *table) find(tag uint64) *entry {
	if t.n == 0 {
		return nil
	}
	for i := t.home(tag); ; i++ {
		e := t.at(i)
		if e.tag == tag {
			return e
		}
		if e.tag == 0 {
			return nil
		}
	}
}

// insert adds an entry whose tag the table does not hold, and returns its place,
// which the next insert or remove may move.
func (t *table) insert(e entry) *entry {
	if uint64(t.n+1)*100 > t.homes*loadPercent {
		t.resize(max(len(t.blocks)+1, len(t.blocks)*5/4))
	}
	for {
		if s := t.place(e); s != nil {
			t.n++
			return s
		}
		t.resize(len(t.blocks) + 1) // the run-out is full, which chance alone hardly does
	}
}

func (t *table) place(e entry) *entry {
	last := len(t.blocks)*entriesPerBlock - 1 // stays empty: it ends every probe
	for i := t.home(e.tag); i < last; i++ {
		if s := t.at(i); s.tag == 0 {
			*s = e
			return s
		}
	}
	return nil
}

func (t *table) resize(blocks int) {
	old := t.blocks
	for {
		t.blocks = make([]*entries, blocks)
		for i := range t.blocks {
			t.blocks[i] = t.pool.Get()
		}
		t.homes = uint64(blocks*entriesPerBlock - runout)
		if t.fill(old) {
			break
		}
		t.release()
		blocks++
	}
	t.layout.Store(&layout{t.blocks, t.homes})
	for _, b := range old {
		t.pool.Put(b)
	}
}

func (t *table) fill(from []*entries) bool {
	for _, b := range from {
		for i := range b {
			if b[i].tag != 0 && t.place(b[i]) == nil {
				return false
			}
		}
	}
	return true
}

// remove drops the entry with the tag, and closes the gap in its run.
func (t *table) remove(tag uint64) {
	i := t.home(tag)
	for t.at(i).tag != tag {
		if t.at(i).tag == 0 {
			return
		}
		i++
	}
	t.n--
	for j := i + 1; ; j++ {
		e := t.at(j)
		if e.tag == 0 {
			break
		}
		if t.home(e.tag) <= i {
			*t.at(i) = *e
			i = j
		}
	}
	*t.at(i) = entry{}
}

// fit gives blocks back after many entries left.
func (t *table) fit() {
	switch {
	case t.n == 0:
		t.release()
	case len(t.blocks) > 1 && uint64(t.n)*100 < t.homes*sparsePercent:
		t.resize((t.n*100/60+runout)/entriesPerBlock + 1)
	}
}

func (t *table) release() {
	for _, b := range t.blocks {
		t.pool.Put(b)
	}
	t.blocks, t.homes = nil, 0
	t.layout.Store(nil)
}

func (t *table) slots() int { return len(t.blocks) * entriesPerBlock }
