//go:build !amd64 && !arm64

package crowd

import "unsafe"

// prefetch does nothing where we don't know the instruction.
func prefetch(unsafe.Pointer) {}
