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

// release gives the memory under a block back; it reads as zeros afterwards.
func release(b []byte) {
	if unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b) // a block smaller than a page, or not aligned to one
	}
}
