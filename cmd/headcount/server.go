package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/headcount-live/headcount/httpapi"
)

// The parts of a drain. Together they stay below the ten seconds that whatever
// sent the signal should grant: writing a large live state takes what is left.
const (
	// noticeTime is how long new requests are still taken after /readyz said no,
	// so that a load balancer that looks every second has looked.
	noticeTime = time.Second
	// requestTime is how long requests that run may go on after that.
	requestTime = 4 * time.Second
)

// server is everything that runs while the process serves.
type server struct {
	log    *slog.Logger
	api    *httpapi.Server
	public serving
	admin  serving
	work   []func(context.Context) error // runs beside, until the requests are done
	files  liveFiles
}

// serving is an HTTP server and where it listens.
type serving struct {
	*http.Server
	listener net.Listener
}

// run serves until ctx ends or a part fails, then drains and keeps the live
// state. It returns nil if nothing failed.
func (s *server) run(ctx context.Context) error {
	background := context.WithoutCancel(ctx) // what runs goes on until it is drained
	working, stopWork := context.WithCancel(background)
	defer stopWork()
	failed := make(chan error, len(s.work)+2)
	var parts sync.WaitGroup
	for _, work := range s.work {
		parts.Go(func() { failed <- work(working) })
	}
	for _, part := range []serving{s.public, s.admin} {
		parts.Go(func() { failed <- part.Serve(part.listener) })
	}

	var cause error
	select {
	case <-ctx.Done():
		s.log.Info("draining")
	case cause = <-failed:
		s.log.Error("a part of the server failed; draining", "error", cause)
	}
	s.drain(background)
	stopWork()
	parts.Wait()
	if err := errors.Join(cause, s.files.write()); err != nil {
		return err
	}
	s.log.Info("stopped")
	return nil
}

// drain sends clients elsewhere, lets requests finish, and ends those that do not.
func (s *server) drain(ctx context.Context) {
	s.api.BeginDrain()
	select {
	case <-time.After(noticeTime):
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	var ended sync.WaitGroup
	for _, part := range []serving{s.public, s.admin} {
		ended.Go(func() {
			if err := part.Shutdown(ctx); err != nil {
				s.log.Warn("requests were still running and are cut", "listen", part.listener.Addr().String(), "error", err)
				part.Close()
			}
		})
	}
	ended.Wait()
}
