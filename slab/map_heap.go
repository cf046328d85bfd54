//go:build !linux || race

package slab

// mapSlab takes memory from the heap: where there is no mmap we know, and in race
// builds, because the race detector watches only the heap.
func mapSlab(bool) (m []byte, mapped bool) { return make([]byte, slabBytes), false }

// mapAhead maps nothing: the heap needs no time to find memory.
func mapAhead(int) [][]byte { return nil }

func unmap([]byte) {}

// release cannot give heap memory back piecemeal; it only makes it zero.
func release(b []byte) { clear(b) }
