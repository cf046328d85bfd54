package crowd

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/headcount-live/headcount/slab"
)

// pageID is the 128-bit keyed hash of a page id. The first half names the page;
// the second sets its sessions apart from those of other pages.
type pageID struct {
	key  PageKey
	salt uint64
}

// pageRecord is a page that has live sessions, or a free place for one.
type pageRecord struct {
	id   pageID
	live uint32 // sessions in the tables of its partition; 0: the record is free
	next uint32 // the next free record
}

const (
	recordsPerBlock = 256
	noRecord        = ^uint32(0)
)

type recordBlock [recordsPerBlock]pageRecord

// pages holds the pages of one partition and how many live sessions each has. It
// is locked after the shards of its partition, never before.
type pages struct {
	mu      sync.Mutex
	index   table // from the key to the number of the record
	pool    *slab.Pool[recordBlock]
	records []*recordBlock
	used    uint32 // records ever taken
	free    uint32 // head of the list of free ones

	partitions int
	total      *atomic.Int64 // pages of all partitions
	limit      int64
}

// tag returns the tag of a page in the index of its partition, of so many: how far
// into the partition's range of keys it lies, so that the index is in the order of
// keys.
func (k PageKey) tag(partitions int) uint64 {
	_, lo := bits.Mul64(uint64(k), uint64(partitions))
	return max(lo, 1)
}

func (p *pages) record(i uint32) *pageRecord {
	return &p.records[i/recordsPerBlock][i%recordsPerBlock]
}

// live returns how many live sessions a page has.
func (p *pages) live(key PageKey) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.find(key); r != nil {
		return int(r.live)
	}
	return 0
}

// find returns the record of a page, nil if nobody is on it.
func (p *pages) find(key PageKey) *pageRecord {
	e := p.index.find(key.tag(p.partitions))
	if e == nil {
		return nil
	}
	return p.record(e.page)
}

// salt returns the salt of a page, if somebody is on it.
func (p *pages) salt(key PageKey) (salt uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.find(key); r != nil {
		return r.id.salt, true
	}
	return 0, false
}

// join counts one more session on a page and returns its record. It fails where
// the page is new and there are too many pages.
func (p *pages) join(id pageID) (i uint32, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tag := id.key.tag(p.partitions)
	if e := p.index.find(tag); e != nil {
		p.record(e.page).live++
		return e.page, true
	}
	if p.total.Add(1) > p.limit {
		p.total.Add(-1)
		return 0, false
	}
	i = p.take()
	*p.record(i) = pageRecord{id: id, live: 1}
	p.index.insert(entry{tag: tag, page: i})
	return i, true
}

// part counts one session less on each of the pages, which may repeat.
func (p *pages) part(records ...uint32) {
	if len(records) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range records {
		r := p.record(i)
		if r.live--; r.live == 0 {
			p.index.remove(r.id.key.tag(p.partitions))
			r.next, p.free = p.free, i
			p.total.Add(-1)
		}
	}
}

func (p *pages) take() uint32 {
	if i := p.free; i != noRecord {
		p.free = p.record(i).next
		return i
	}
	if p.used%recordsPerBlock == 0 {
		p.records = append(p.records, p.pool.Get())
	}
	p.used++
	return p.used - 1
}

// fit gives memory back after many pages went.
func (p *pages) fit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index.fit()
	if p.index.n > 0 {
		return
	}
	for _, b := range p.records {
		p.pool.Put(b)
	}
	p.records, p.used, p.free = nil, 0, noRecord
}
