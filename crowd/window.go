package crowd

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/headcount-live/headcount/slab"
)

// window holds every session that this node heard within the window, exactly: on
// which page, and when last. Its tables are cut twice: by partition, so that a
// partition can be reported by itself, and within it by session, so that one
// enormous page fills many small tables rather than one that grows with a pause.
//
// A session on a page is one 64-bit tag, the session's hash xor the page's salt:
// a beat of a known session is one probe of one table, and the page's record is
// touched only when somebody comes or goes. Both hashes are keyed, so tags are
// uniform and nobody can search for two that are equal; among 10 million the odds
// that any two are, which would count two viewers as one, are 3 in a million.
type window struct {
	parts  []partition
	shards int   // tables per partition, a power of two
	length int32 // in milliseconds

	entries *slab.Pool[block]
	records *slab.Pool[recordBlock]

	sessions    atomic.Int64
	pages       atomic.Int64
	maxSessions int64
}

// partition is the part of the window that is reported as one.
type partition struct {
	pages  pages
	shards []shard
}

// shard is one table of sessions.
type shard struct {
	mu    sync.Mutex
	table table
	beats uint64   // of sessions known already
	swept uint32   // engine time of the last whole sweep
	_     [48]byte // neighbours are locked by other processors
}

// lock keeps all beats of the partition out.
func (p *partition) lock() {
	for i := range p.shards {
		p.shards[i].mu.Lock()
	}
	p.pages.mu.Lock()
}

func (p *partition) unlock() {
	p.pages.mu.Unlock()
	for i := range p.shards {
		p.shards[i].mu.Unlock()
	}
}

// sweepSlots bounds how long one sweep keeps a table from beats: 10 µs or so, and
// 2 ms where all of it expires at once.
const sweepSlots = 16 << 10

// leastShards is how many tables the window has at least. More make growth and
// sweeps hold others back for less time, and an idle server larger.
const leastShards = 512

func newWindow(partitions int, length int32, maxPages, maxSessions int) *window {
	w := &window{
		parts:       make([]partition, partitions),
		shards:      1,
		length:      length,
		entries:     slab.New[block](),
		records:     slab.New[recordBlock](),
		maxSessions: int64(maxSessions),
	}
	for w.shards*partitions < leastShards {
		w.shards *= 2
	}
	for i := range w.parts {
		p := &w.parts[i]
		p.pages = pages{
			index:      table{pool: w.entries},
			pool:       w.records,
			free:       noRecord,
			total:      &w.pages,
			limit:      int64(maxPages),
			partitions: partitions,
		}
		p.shards = make([]shard, w.shards)
		for j := range p.shards {
			p.shards[j].table.pool = w.entries
		}
	}
	return w
}

// sighting is one session on one page, as the window knows it.
type sighting struct {
	page      pageID
	partition int
	tag       uint64
}

func (w *window) sight(page pageID, session uint64) sighting {
	return sighting{page, page.key.Partition(len(w.parts)), max(session^page.salt, 1)}
}

func (w *window) shard(s *sighting) *shard {
	return &w.parts[s.partition].shards[s.tag&uint64(w.shards-1)]
}

// renew notes a beat of a session that is in the window, and reports whether it is.
func (w *window) renew(s *sighting, now uint32) bool {
	sh := w.shard(s)
	sh.mu.Lock()
	e := sh.table.find(s.tag)
	if e != nil {
		e.seen = now
		sh.beats++
	}
	sh.mu.Unlock()
	return e != nil
}

// prefetch asks for the memory that renew will look at.
func (w *window) prefetch(s *sighting) {
	sh := w.shard(s)
	sh.mu.Lock()
	if t := &sh.table; t.n > 0 {
		slab.Prefetch(unsafe.Pointer(t.at(t.home(s.tag))))
	}
	sh.mu.Unlock()
}

// outcome says what became of a beat.
type outcome uint8

const (
	known outcome = iota
	added
	tooManySessions
	tooManyPages
	filtered
	outcomes
)

// add notes a beat of a session whether or not it is in the window.
func (w *window) add(s *sighting, now uint32) outcome {
	sh := w.shard(s)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.table.find(s.tag); e != nil {
		e.seen = now
		return known
	}
	p := &w.parts[s.partition]
	if w.sessions.Add(1) > w.maxSessions {
		w.makeRoom(p, sh, now)
		if w.sessions.Load() > w.maxSessions {
			w.sessions.Add(-1)
			return tooManySessions
		}
	}
	record, ok := p.pages.join(s.page)
	if !ok {
		w.makeRoom(p, sh, now)
		if record, ok = p.pages.join(s.page); !ok {
			w.sessions.Add(-1)
			return tooManyPages
		}
	}
	sh.table.insert(entry{tag: s.tag, page: record, seen: now})
	return added
}

// makeRoom drops the expired sessions of one table before its time has come, at
// most 32 times a window, so that newcomers beyond a cap don't sweep all day.
func (w *window) makeRoom(p *partition, sh *shard, now uint32) {
	if elapsed(now, sh.swept) > w.length/32 {
		var gone []uint32
		_, gone = sh.table.sweep(0, sh.table.slots(), now, w.length, nil)
		w.parted(p, gone)
		sh.swept = now
	}
}

// leave drops a session and reports whether it was in the window.
func (w *window) leave(s *sighting) bool {
	sh := w.shard(s)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	record, ok := sh.table.remove(s.tag)
	if ok {
		w.sessions.Add(-1)
		w.parts[s.partition].pages.part(record)
	}
	return ok
}

// live returns how many live sessions a page has on this node.
func (w *window) live(key PageKey) int {
	return w.parts[key.Partition(len(w.parts))].pages.live(key)
}

// sweep drops the sessions of a partition that fell silent for the window.
func (w *window) sweep(partition int, now uint32) {
	p := &w.parts[partition]
	var gone []uint32
	for i := range p.shards {
		sh := &p.shards[i]
		for from := 0; ; {
			sh.mu.Lock()
			from, gone = sh.table.sweep(from, sweepSlots, now, w.length, gone[:0])
			w.parted(p, gone)
			if from == 0 {
				sh.swept = now
				sh.table.fit()
			}
			sh.mu.Unlock()
			if from == 0 {
				break
			}
		}
	}
	p.pages.fit()
}

// parted takes sessions that left a table off their pages.
func (w *window) parted(p *partition, records []uint32) {
	w.sessions.Add(-int64(len(records)))
	p.pages.part(records...)
}

// renewals returns how many beats were of known sessions.
func (w *window) renewals() (n uint64) {
	for i := range w.parts {
		for j := range w.parts[i].shards {
			sh := &w.parts[i].shards[j]
			sh.mu.Lock()
			n += sh.beats
			sh.mu.Unlock()
		}
	}
	return n
}

// bytes returns how much memory the tables and records take.
func (w *window) bytes() int64 { return w.entries.Bytes() + w.records.Bytes() }
