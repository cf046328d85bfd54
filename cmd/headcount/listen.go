package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen opens a listener for the address that a flag gave.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: stop the program that listens there, or choose another address with %s", address, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen on %s: choose a port above 1023 with %s", address, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s is no address of this machine: choose one that is with %s", address, flag)
	}
	return nil, fmt.Errorf("cannot listen: %w; choose another address with %s", err, flag)
}
