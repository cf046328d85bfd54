package load

import (
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for many sockets at once. The generator asks the kernel itself
// because the runtime's netpoller costs a goroutine switch and a read that finds
// nothing per answer, and wakes sleepers a millisecond late.
type poller struct {
	fd     int
	events []unix.EpollEvent
}

func newPoller(sockets int) (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return &poller{fd: fd, events: make([]unix.EpollEvent, sockets)}, nil
}

// add waits for what arrives at a socket, and names it by index. Each arrival is
// told once: the socket must be read until it has no more.
func (p *poller) add(fd, index int) error {
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(index)})
}

// wait blocks until sockets are ready, or for at most timeout, which is cut to
// milliseconds: below one it only looks.
func (p *poller) wait(timeout time.Duration) ([]unix.EpollEvent, error) {
	n, err := unix.EpollWait(p.fd, p.events, int(timeout.Milliseconds()))
	if errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return p.events[:n], nil
}

func (p *poller) close() { _ = unix.Close(p.fd) }

// dialTimeout bounds a connect, during which its worker stands still.
const dialTimeout = 2 * time.Second

// dial returns a connected socket that does not block.
func dial(address string) (fd int, err error) {
	conn, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		return -1, err
	}
	defer conn.Close() // the socket lives on in its duplicate
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return -1, err
	}
	var dupErr error
	err = raw.Control(func(original uintptr) {
		// A duplicate shares the flags of the original: TCP_NODELAY, not blocking.
		fd, dupErr = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
	})
	return fd, errors.Join(err, dupErr)
}
