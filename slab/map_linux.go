//go:build linux && !race

package slab

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapSlab maps slabBytes of zeros. If the system refuses, the heap lends them and
// mapped is false.
func mapSlab(huge bool) (m []byte, mapped bool) {
	if huge {
		m = mapHuge(slabBytes)
	} else {
		m = mapAnonymous(slabBytes)
	}
	if m == nil {
		return make([]byte, slabBytes), false
	}
	return m, true
}

// mapAhead maps a number of slabs on huge pages and has the system find the memory
// for them now, which takes it milliseconds a slab. It returns nil if it refuses.
func mapAhead(number int) [][]byte {
	m := mapHuge(number * slabBytes)
	if m == nil {
		return nil
	}
	_ = unix.Madvise(m, unix.MADV_POPULATE_WRITE) // a kernel before 5.14 finds it on first use
	slabs := make([][]byte, number)
	for i := range slabs {
		slabs[i] = m[i*slabBytes : (i+1)*slabBytes : (i+1)*slabBytes]
	}
	return slabs
}

// mapHuge maps zeros, aligned to the size of a huge page, or returns nil.
func mapHuge(size int) []byte {
	m := mapAnonymous(size + slabBytes)
	if m == nil {
		return nil
	}
	// Cut the aligned part out and give the rest back.
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) % slabBytes)
	unmap(m[head+size:])
	unmap(m[:head])
	m = m[head : head+size : head+size]
	_ = unix.Madvise(m, unix.MADV_HUGEPAGE) // a kernel without huge pages is slower, not wrong
	return m
}

func mapAnonymous(size int) []byte {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return unsafe.Slice((*byte)(p), size)
}

func unmap(m []byte) {
	if len(m) > 0 {
		_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(m)), uintptr(len(m)))
	}
}

// release gives the memory under a block back; it reads as zeros afterwards. The
// system takes whole pages only, and rounds a length up, so the parts of a block
// that share a page with its neighbours are cleared instead.
func release(b []byte) {
	page := unix.Getpagesize()
	first := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(page))
	if first >= len(b) {
		clear(b)
		return
	}
	end := first + (len(b)-first)/page*page
	clear(b[:first])
	clear(b[end:])
	if end > first && unix.Madvise(b[first:end], unix.MADV_DONTNEED) != nil {
		clear(b[first:end])
	}
}
