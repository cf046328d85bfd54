package crowd

import (
	"math/bits"

	"github.com/headcount-live/headcount/slab"
)

// entry is one slot of a table. A zero tag marks it empty.
type entry struct {
	tag  uint64 // uniformly distributed, unique in its table
	page uint32 // the record of the page it belongs to
	seen uint32 // engine time of the last beat, in milliseconds
}

const blockEntries = 512

// block is what tables are built of: 8 KiB, so that a table which grows never
// copies into memory that it must first find in one piece.
type block [blockEntries]entry

// table is a sorted array with gaps, in blocks outside the heap: an entry lies at
// the slot that its tag points to by simple proportion, or as close behind it as
// the entries with smaller tags allow. A lookup therefore ends at the first gap or
// larger tag; growing, shrinking and dropping expired entries are one pass in
// order, which no hash of any kind has to guide; and since the capacity need not
// be a power of two, tables grow by a quarter and stay 68 to 85 % full.
//
// The last slot is always empty. A table is not safe for concurrent use.
type table struct {
	pool   *slab.Pool[block]
	blocks []*block
	homes  uint64 // slots that tags point to; the rest is run-out
	n      int
}

const (
	runout        = 64 // slots behind the last home
	fullPercent   = 85
	sparsePercent = 40
)

func (t *table) home(tag uint64) int {
	hi, _ := bits.Mul64(tag, t.homes)
	return int(hi)
}

func (t *table) at(i int) *entry {
	return &t.blocks[uint(i)/blockEntries][uint(i)%blockEntries]
}

func (t *table) slots() int { return len(t.blocks) * blockEntries }

// find returns the entry with the tag, nil if there is none. The entry stays
// where it is until the table is written to.
func (t *table) find(tag uint64) *entry {
	if t.n == 0 {
		return nil
	}
	for i := t.home(tag); ; i++ {
		e := t.at(i)
		if e.tag >= tag {
			if e.tag == tag {
				return e
			}
			return nil
		}
		if e.tag == 0 {
			return nil
		}
	}
}

// insert adds an entry whose tag the table does not hold.
func (t *table) insert(e entry) {
	if uint64(t.n)*100 >= t.homes*fullPercent {
		t.resize(max(len(t.blocks)*5/4, len(t.blocks)+1))
	}
	t.n++
	i := t.home(e.tag)
	for t.at(i).tag != 0 && t.at(i).tag < e.tag {
		i++
	}
	for ; e.tag != 0; i++ { // carry the rest of the run one slot on
		s := t.at(i)
		*s, e = e, *s
	}
	t.terminate()
}

// remove drops the entry with the tag and reports whether it was there, and the
// page it belonged to.
func (t *table) remove(tag uint64) (page uint32, ok bool) {
	if t.n == 0 {
		return 0, false
	}
	i := t.home(tag)
	for t.at(i).tag != 0 && t.at(i).tag < tag {
		i++
	}
	if t.at(i).tag != tag {
		return 0, false
	}
	page = t.at(i).page
	for { // pull the rest of the run one slot back
		next := t.at(i + 1)
		if next.tag == 0 || t.home(next.tag) == i+1 {
			*t.at(i) = entry{}
			break
		}
		*t.at(i) = *next
		i++
	}
	t.n--
	return page, true
}

// sweep drops entries not seen for window milliseconds, from slot from on, and
// appends their pages to gone. It looks at about limit slots, more if need be to
// end at a gap, and returns the slot to go on from, 0 at the end of the table.
func (t *table) sweep(from, limit int, now uint32, window int32, gone []uint32) (next int, _ []uint32) {
	end := t.slots()
	write := from // where the next kept entry lies if its tag points before it
	for i := from; i < end; i++ {
		if write == i {
			i = t.skipLive(i, min(end, from+limit), now, window)
			if write = i; i == end {
				break
			}
		}
		e := t.at(i)
		switch {
		case e.tag == 0:
			if i >= from+limit {
				return i, gone
			}
			write = i + 1
		case elapsed(now, e.seen) >= window:
			gone = append(gone, e.page)
			*e = entry{}
			t.n--
		case write < i && t.home(e.tag) < i: // an entry before it left
			to := max(write, t.home(e.tag))
			*t.at(to), *e = *e, entry{}
			write = to + 1
		default:
			write = i + 1
		}
	}
	return 0, gone
}

// skipLive returns the first slot in [i, end) that holds an expired entry, or
// else end. Most sweeps of most tables are nothing but this.
func (t *table) skipLive(i, end int, now uint32, window int32) int {
	for i < end {
		b := t.blocks[i/blockEntries]
		stop := min(end, (i/blockEntries+1)*blockEntries)
		slots := b[i%blockEntries:][:stop-i]
		for j := range slots {
			if e := &slots[j]; elapsed(now, e.seen) >= window && e.tag != 0 {
				return i + j
			}
		}
		i = stop
	}
	return max(i, end)
}

// fit gives blocks back after many entries left.
func (t *table) fit() {
	switch {
	case t.n == 0:
		t.release()
	case len(t.blocks) > 1 && uint64(t.n)*100 < t.homes*sparsePercent:
		t.resize((t.n*100/((fullPercent+sparsePercent)/2) + runout + blockEntries) / blockEntries)
	}
}

func (t *table) release() {
	for _, b := range t.blocks {
		t.pool.Put(b)
	}
	*t = table{pool: t.pool}
}

// resize moves all entries to a table of the given number of blocks, in one pass,
// giving each old block back as soon as it is read.
func (t *table) resize(blocks int) {
	old := t.blocks
	t.blocks = make([]*block, 0, blocks+1)
	t.homes = uint64(blocks*blockEntries - runout)
	write := 0
	for _, b := range old {
		for i := range b {
			e := &b[i]
			if e.tag == 0 {
				continue
			}
			to := max(write, t.home(e.tag))
			t.extend(to)
			*t.at(to) = *e
			write = to + 1
		}
		t.pool.Put(b)
	}
	t.extend(blocks*blockEntries - 1)
	t.terminate()
}

// extend adds blocks until there is a slot i.
func (t *table) extend(i int) {
	for i >= t.slots() {
		t.blocks = append(t.blocks, t.pool.Get())
	}
}

// terminate restores the empty last slot.
func (t *table) terminate() {
	if last := t.slots() - 1; t.at(last).tag != 0 {
		t.extend(last + 1)
	}
}

// all yields every entry in the order of tags.
func (t *table) all(yield func(*entry) bool) {
	for _, b := range t.blocks {
		for i := range b {
			if b[i].tag != 0 && !yield(&b[i]) {
				return
			}
		}
	}
}
