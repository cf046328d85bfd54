//go:build amd64 || arm64

package crowd

import "unsafe"

// prefetch asks the processor to bring the cache line at p closer, and waits for
// nothing.
//
//go:noescape
func prefetch(p unsafe.Pointer)
