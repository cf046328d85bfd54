package httpapi

import (
	"net/netip"
	"sync"
	"time"

	"github.com/headcount-live/headcount"
)

// readers counts the open event streams of the process and holds them to caps,
// because each holds a connection and its buffers for as long as it likes. It is
// safe for concurrent use.
type readers struct {
	most           int // open at once
	mostPerAddress int // of one address; 0: no cap
	jitter         jitter

	mu        sync.Mutex
	open      int
	byAddress map[netip.Prefix]int

	drain chan struct{} // closed when every reader has to go
	once  sync.Once
}

func newReaders(most, mostPerAddress int, j jitter) *readers {
	return &readers{
		most: most, mostPerAddress: mostPerAddress, jitter: j,
		byAddress: make(map[netip.Prefix]int),
		drain:     make(chan struct{}),
	}
}

// enter takes a place for a reader, which the caller gives back with leave. The
// error has CodeUnavailable and a spread RetryAfter, so that those turned away
// don't come back in one wave.
func (r *readers) enter(from netip.Addr) *headcount.Error {
	key := household(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.draining():
		return r.full("this node is shutting down; another one takes the reader after a moment")
	case r.open >= r.most:
		return r.full("this node has as many event readers as it may; retry later or poll")
	case r.mostPerAddress > 0 && r.byAddress[key] >= r.mostPerAddress:
		return r.full("this address has as many event readers as it may; close some, or share one")
	}
	r.open++
	if r.mostPerAddress > 0 {
		r.byAddress[key]++
	}
	return nil
}

func (r *readers) full(why string) *headcount.Error {
	return &headcount.Error{
		Code:       headcount.CodeUnavailable,
		Message:    why,
		RetryAfter: r.jitter(5*time.Second, 30*time.Second),
	}
}

// leave gives a place back.
func (r *readers) leave(from netip.Addr) {
	key := household(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	if r.mostPerAddress == 0 {
		return
	}
	if r.byAddress[key]--; r.byAddress[key] <= 0 {
		delete(r.byAddress, key)
	}
}

// count returns how many readers are open.
func (r *readers) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// beginDrain tells every reader to go and lets no new one in.
func (r *readers) beginDrain() { r.once.Do(func() { close(r.drain) }) }

func (r *readers) draining() bool {
	select {
	case <-r.drain:
		return true
	default:
		return false
	}
}

// household returns what an address stands for: an IPv6 customer has a whole /64.
func household(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails only for the zero address, whose prefix is zero too
	return p
}

// jitter returns a random duration between two, so that clients told to wait do
// not come back together.
type jitter func(least, most time.Duration) time.Duration
