package slab_test

import (
	"testing"

	"github.com/headcount-live/headcount/slab"
)

type block [2048]uint64 // 16 KiB

// A block is zero whenever it is handed out: fresh, reused, or back from the system.
func TestBlocksAreZero(t *testing.T) {
	pool := slab.New[block]()
	var held []*block
	for round := range 3 {
		for range 300 {
			b := pool.Get()
			if *b != (block{}) {
				t.Fatalf("round %d: a block was handed out dirty", round)
			}
			b[0], b[2047] = 1, 1
			held = append(held, b)
		}
		for _, b := range held {
			pool.Put(b)
		}
		held = held[:0]
		if got := pool.Trim(100); got != 100 {
			t.Errorf("round %d: Trim(100) of 300 free blocks gave %d back", round, got)
		}
	}
}

// Blocks that are out at the same time never overlap.
func TestBlocksAreApart(t *testing.T) {
	pool := slab.New[block]()
	blocks := make([]*block, 1000)
	for i := range blocks {
		blocks[i] = pool.Get()
		for j := range blocks[i] {
			blocks[i][j] = uint64(i)
		}
	}
	for i, b := range blocks {
		for _, got := range b {
			if got != uint64(i) {
				t.Fatalf("block %d holds a word of block %d", i, got)
			}
		}
	}
}

// A pool that is large enough for huge pages, which are mapped ahead of need, still
// hands out zeroed blocks that are apart.
func TestLargePools(t *testing.T) {
	pool := slab.New[block]()
	blocks := make([]*block, (100<<20)/(16<<10))
	for i := range blocks {
		b := pool.Get()
		if b[0] != 0 || b[2047] != 0 {
			t.Fatal("a block was handed out dirty")
		}
		b[0], b[2047] = uint64(i)+1, uint64(i)+1
		blocks[i] = b
	}
	for i, b := range blocks {
		if b[0] != uint64(i)+1 || b[2047] != uint64(i)+1 {
			t.Fatalf("block %d holds a word of another", i)
		}
	}
	if got, want := pool.Bytes(), int64(100<<20); got != want {
		t.Errorf("Bytes() = %d, want %d", got, want)
	}
}

// Trim keeps a quarter of what is in use at hand.
func TestTrimKeepsAReserve(t *testing.T) {
	pool := slab.New[block]()
	var blocks []*block
	for range 150 {
		blocks = append(blocks, pool.Get())
	}
	for _, b := range blocks[100:] {
		pool.Put(b)
	}
	if got, want := pool.Trim(1000), 25; got != want {
		t.Errorf("Trim of 50 free blocks beside 100 in use gave %d back, want %d", got, want)
	}
	if got, want := pool.Bytes(), int64(125*16<<10); got != want {
		t.Errorf("Bytes() = %d after Trim, want %d", got, want)
	}
}

// Giving a block back to the system leaves its neighbours alone, also where a
// block ends within a page.
func TestTrimTouchesNoNeighbour(t *testing.T) {
	type odd [6144]byte
	pool := slab.New[odd]()
	var kept, given []*odd
	for i := range 100 {
		b := pool.Get()
		for j := range b {
			b[j] = byte(i + 1)
		}
		if i%2 == 0 {
			given = append(given, b)
		} else {
			kept = append(kept, b)
		}
	}
	for _, b := range given {
		pool.Put(b)
	}
	pool.Trim(len(given))
	for i, b := range kept {
		for j := range b {
			if b[j] != byte(2*i+2) {
				t.Fatalf("block %d lost its byte %d", 2*i+1, j)
			}
		}
	}
	for range given {
		if b := pool.Get(); *b != (odd{}) {
			t.Fatal("a block was handed out dirty")
		}
	}
}
