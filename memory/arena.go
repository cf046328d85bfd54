package memory

import (
	"math/bits"
	"unsafe"

	"github.com/headcount-live/headcount/slab"
)

const (
	slabBlock = 16 << 10
	unit      = 8 // bytes; a reference counts units, so that 32 bits reach 32 GiB a shard
	maxUnits  = 128
)

type units [slabBlock / unit]uint64

// arena holds the cells of a shard: runs of units, found by a reference that never
// moves. A freed cell is used again for one of its size, or split for a smaller one.
// Reference 0 is none. An arena is not safe for concurrent use.
type arena struct {
	pool   *slab.Pool[units]
	blocks []*units
	next   uint32 // first unit never handed out of the newest block
	free   [maxUnits + 1]uint32
	some   [3]uint64 // bit n: free[n] is not empty
	used   int       // cells
}

// at returns the memory of a cell. It is valid until the cell is freed.
func (a *arena) at(ref uint32) unsafe.Pointer {
	return unsafe.Pointer(&a.blocks[ref/uint32(len(units{}))][ref%uint32(len(units{}))])
}

func unitsFor(size int) int { return (size + unit - 1) / unit }

// alloc returns a cell of n units, contents arbitrary.
func (a *arena) alloc(n int) uint32 {
	a.used++
	if ref := a.free[n]; ref != 0 {
		a.pop(n)
		return ref
	}
	if a.room() < n {
		if ref := a.split(n); ref != 0 {
			return ref
		}
		a.grow()
	}
	ref := a.next
	a.next += uint32(n)
	return ref
}

func (a *arena) room() int { return len(a.blocks)*len(units{}) - int(a.next) }

// grow adds a block, and keeps what the last one had left.
func (a *arena) grow() {
	if left := a.room(); left > 0 {
		a.push(left, a.next)
	}
	a.next = uint32(len(a.blocks) * len(units{}))
	if a.next == 0 {
		a.next = 1
	}
	a.blocks = append(a.blocks, a.pool.Get())
}

// split cuts a cell of n units off the smallest larger free one.
func (a *arena) split(n int) uint32 {
	for w := (n + 1) / 64; w < len(a.some); w++ {
		word := a.some[w]
		if w == (n+1)/64 {
			word &= ^uint64(0) << (uint(n+1) % 64)
		}
		if word == 0 {
			continue
		}
		m := w*64 + bits.TrailingZeros64(word)
		ref := a.pop(m)
		a.push(m-n, ref+uint32(n))
		return ref
	}
	return 0
}

// release frees a cell of n units.
func (a *arena) release(ref uint32, n int) {
	a.push(n, ref)
	if a.used--; a.used == 0 {
		a.clear()
	}
}

// clear frees every cell and gives the blocks back.
func (a *arena) clear() {
	for _, b := range a.blocks {
		a.pool.Put(b)
	}
	*a = arena{pool: a.pool}
}

func (a *arena) push(n int, ref uint32) {
	*(*uint32)(a.at(ref)) = a.free[n]
	a.free[n] = ref
	a.some[n/64] |= 1 << (uint(n) % 64)
}

func (a *arena) pop(n int) uint32 {
	ref := a.free[n]
	a.free[n] = *(*uint32)(a.at(ref))
	if a.free[n] == 0 {
		a.some[n/64] &^= 1 << (uint(n) % 64)
	}
	return ref
}
