// Package slab hands out fixed-size blocks of memory that lie outside the Go
// heap: the garbage collector neither scans them nor paces itself by them, and
// large pools ask the system for huge pages, which makes random access about a
// third cheaper. What lies in a block must hold no Go pointers.
package slab

import (
	"runtime"
	"sync"
	"unsafe"
)

const (
	// slabBytes is the size of one mapping. It is that of a huge page, so that a
	// slab can be one.
	slabBytes = 2 << 20
	// hugeAfter is how much a pool maps before it asks for huge pages. A small
	// pool stays on small ones, of which only those touched are resident.
	hugeAfter = 64 << 20
	// slabsAhead is how many slabs a large pool maps at a time before they are needed.
	// The first touch of a huge page takes the system milliseconds, which a caller who
	// holds a lock must not spend. A pool keeps one to two times as many.
	slabsAhead = 4
)

// Pool hands out zeroed blocks of type B, an array of pointer-free values of at
// most 2 MiB. It is safe for concurrent use. The memory goes back to the system
// when the pool is unreachable, so whatever holds blocks must hold the pool too.
type Pool[B any] struct {
	mu    sync.Mutex
	fresh []byte // the part of the newest slab that was never handed out: zero
	free  []*B   // given back, contents arbitrary
	cold  []*B   // given back, and their memory to the system: zero

	ahead     [][]byte // slabs mapped ahead of need
	preparing bool     // more of them are on their way

	slabs *slabs
	used  int
	size  int // of a block, in bytes
}

// slabs is what a pool has mapped. It is apart from the pool so that the cleanup
// of the pool can hold it.
type slabs struct {
	mapped [][]byte
}

// New returns an empty pool. It maps nothing yet.
func New[B any]() *Pool[B] {
	var b B
	size := int(unsafe.Sizeof(b))
	if size == 0 || size > slabBytes {
		panic("slab: a block must have between 1 byte and 2 MiB")
	}
	p := &Pool[B]{size: size, slabs: &slabs{}}
	runtime.AddCleanup(p, (*slabs).unmap, p.slabs)
	return p
}

// Get returns a zeroed block.
func (p *Pool[B]) Get() *B {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used++
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		clear(bytesOf(b))
		return b
	}
	if n := len(p.cold); n > 0 {
		b := p.cold[n-1]
		p.cold = p.cold[:n-1]
		return b
	}
	if len(p.fresh) < p.size {
		p.fresh = p.nextSlab()
	}
	b := (*B)(unsafe.Pointer(unsafe.SliceData(p.fresh)))
	p.fresh = p.fresh[p.size:]
	return b
}

// nextSlab returns a slab. The pool is locked.
func (p *Pool[B]) nextSlab() []byte {
	large := len(p.slabs.mapped)*slabBytes >= hugeAfter
	if large && len(p.ahead) <= slabsAhead && !p.preparing {
		p.preparing = true
		go p.prepare()
	}
	if n := len(p.ahead); n > 0 {
		m := p.ahead[n-1]
		p.ahead = p.ahead[:n-1]
		return m
	}
	m, mapped := mapSlab(large)
	if mapped {
		p.slabs.mapped = append(p.slabs.mapped, m)
	}
	return m
}

// prepare maps slabs ahead of need. It ends by itself.
func (p *Pool[B]) prepare() {
	slabs := mapAhead(slabsAhead)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ahead = append(p.ahead, slabs...)
	p.slabs.mapped = append(p.slabs.mapped, slabs...)
	p.preparing = false
}

// Put takes a block back. The caller must not touch it again.
func (p *Pool[B]) Put(b *B) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	p.free = append(p.free, b)
}

// Trim gives the memory of at most limit free blocks back to the system, keeping
// as many free ones as a quarter of those in use, and returns how many it gave.
// It takes about a microsecond a block and holds others back meanwhile, so call
// it with a small limit, often.
func (p *Pool[B]) Trim(limit int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.free)-p.used/4, limit)
	if n <= 0 {
		return 0
	}
	rest := len(p.free) - n
	for _, b := range p.free[rest:] {
		release(bytesOf(b))
	}
	p.cold = append(p.cold, p.free[rest:]...)
	p.free = p.free[:rest]
	return n
}

// Bytes returns how much memory the blocks take that are in use or kept at hand.
func (p *Pool[B]) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.used+len(p.free)) * int64(p.size)
}

func (s *slabs) unmap() {
	for _, m := range s.mapped {
		unmap(m)
	}
}

func bytesOf[B any](b *B) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b)), unsafe.Sizeof(*b))
}
