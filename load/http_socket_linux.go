package load

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// readSocket and writeSocket are read(2) and write(2) of a socket that does not
// block. The runtime is not told, as it is for calls that may take long: telling
// it costs a twentieth of what the generator spends on a request.

func readSocket(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}

func writeSocket(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}
