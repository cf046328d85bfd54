//go:build !linux

package load

import (
	"context"
	"errors"
	"time"
)

// fleet needs epoll.
type fleet struct{}

func newFleet(HTTPConfig, int) (*fleet, error) {
	return nil, errors.New("the HTTP load generator runs on Linux only; run it there, and give it the URL of this machine")
}

func (*fleet) run(context.Context, string, time.Duration) (time.Duration, error) {
	return 0, errors.ErrUnsupported
}
func (*fleet) report(time.Duration) *HTTPReport { return nil }
func (*fleet) close()                           {}
