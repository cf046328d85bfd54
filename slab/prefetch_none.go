//go:build !amd64 && !arm64

package slab

import "unsafe"

// Prefetch does nothing where we don't know the instruction.
func Prefetch(unsafe.Pointer) {}
