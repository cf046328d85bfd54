//go:build linux && !race

package slab

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapSlab maps slabBytes of zeros, aligned to their size where huge pages are
// wanted. If the system refuses, the heap lends them and mapped is false.
func mapSlab(huge bool) (m []byte, mapped bool) {
	if !huge {
		if m = mapAnonymous(slabBytes); m != nil {
			return m, true
		}
		return make([]byte, slabBytes), false
	}
	if m = mapAnonymous(2 * slabBytes); m == nil {
		return make([]byte, slabBytes), false
	}
	// Cut an aligned half out and give the rest back.
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) % slabBytes)
	unmap(m[head+slabBytes:])
	unmap(m[:head])
	m = m[head : head+slabBytes : head+slabBytes]
	_ = unix.Madvise(m, unix.MADV_HUGEPAGE) // a kernel without huge pages is slower, not wrong
	return m, true
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
