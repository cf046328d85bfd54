//go:build amd64 || arm64

package slab

import "unsafe"

// Prefetch asks the processor to bring the cache line at p closer, and waits for
// nothing.
//
//go:noescape
func Prefetch(p unsafe.Pointer)
