// Command raw answers every read with the same bytes, from one thread and one
// epoll, without looking at what it read: nothing that speaks HTTP is faster, so
// what the load generator reaches against it is a floor of the generator's own
// ceiling.
//
//	raw -listen 127.0.0.1:8090
package main

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"syscall"
)

// body is long enough to be the answer to a play-start, which a run begins with.
const body = `{"stream_id":"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN","lease_ttl_sec":90,"heartbeat_interval_sec":30}`

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "IPv4 address to serve on")
	flag.Parse()
	if err := run(*listen); err != nil {
		fmt.Fprintln(os.Stderr, "raw:", err)
		os.Exit(1)
	}
}

func run(listen string) error {
	runtime.LockOSThread()
	address, err := netip.ParseAddrPort(listen)
	if err != nil {
		return err
	}
	listener, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := syscall.SetsockoptInt(listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if err := syscall.Bind(listener, &syscall.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}); err != nil {
		return fmt.Errorf("listening on %s: %w", listen, err)
	}
	if err := syscall.Listen(listener, 1024); err != nil {
		return err
	}
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	if err := watch(poll, listener); err != nil {
		return err
	}
	return serve(poll, listener)
}

func serve(poll, listener int) error {
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	events := make([]syscall.EpollEvent, 256)
	request := make([]byte, 16<<10)
	for {
		n, err := syscall.EpollWait(poll, events, -1)
		if err != nil && err != syscall.EINTR {
			return err
		}
		for _, event := range events[:max(n, 0)] {
			fd := int(event.Fd)
			if fd == listener {
				conn, _, err := syscall.Accept4(listener, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
				if err != nil {
					return err
				}
				if err := watch(poll, conn); err != nil {
					return err
				}
				continue
			}
			if n, err := syscall.Read(fd, request); err != nil || n == 0 {
				_ = syscall.Close(fd)
			} else if _, err := syscall.Write(fd, answer); err != nil {
				_ = syscall.Close(fd)
			}
		}
	}
}

func watch(poll, fd int) error {
	return syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
}
