package crowd

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// AddressFilter limits how many new sessions an address may bring within a
// window. IPv6 addresses count by their first 64 bits, which is what one customer
// gets. Visitors without an address are not limited.
//
// It remembers a fixed number of addresses, in a megabyte. When more than that
// come within one window, those that brought least give way, so a flood of
// addresses can win itself a few fresh allowances but never memory.
type AddressFilter struct {
	limit  uint32
	window int32
	now    func() time.Time
	base   time.Time
	seed   maphash.Seed
	sets   [addressSets]addressSet
}

const (
	addressSets = 8 << 10
	addressWays = 8
)

// addressSet is where the addresses with one hash compete for room.
type addressSet struct {
	mu   sync.Mutex
	ways [addressWays]addressCount
}

// addressCount is what one address brought since some moment.
type addressCount struct {
	tag   uint64 // hash of the address; 0: free
	since uint32 // milliseconds after base, which may wrap
	count uint32
}

// NewAddressFilter returns a filter that lets limit new sessions per address in,
// within any window that begins with the first of them. The clock is read with
// now.
func NewAddressFilter(limit int, window time.Duration, now func() time.Time) *AddressFilter {
	return &AddressFilter{
		limit:  uint32(max(limit, 0)),
		window: int32(window.Milliseconds()),
		now:    now,
		base:   now(),
		seed:   maphash.MakeSeed(),
	}
}

// Allow implements [Filter].
func (f *AddressFilter) Allow(v Visitor) bool {
	if !v.Addr.IsValid() {
		return true
	}
	tag := f.hash(v.Addr)
	// Not the clock of the window, which stands still while nobody reads it.
	now := uint32(f.now().Sub(f.base).Milliseconds())
	set := &f.sets[tag%addressSets]
	set.mu.Lock()
	defer set.mu.Unlock()
	way := set.find(tag, now, f.window)
	if way.count >= f.limit {
		return false
	}
	way.count++
	return true
}

func (f *AddressFilter) hash(addr netip.Addr) uint64 {
	addr = addr.Unmap().WithZone("")
	b := addr.As16()
	n := len(b)
	if addr.Is6() {
		n = 8
	}
	return max(maphash.Bytes(f.seed, b[:n])^uint64(n), 1)
}

// find returns the count of an address within the current window. For a new one
// it takes the place of a window that is over, or else of the least count.
func (s *addressSet) find(tag uint64, now uint32, window int32) *addressCount {
	victim := &s.ways[0]
	for i := range s.ways {
		w := &s.ways[i]
		if w.tag != 0 && elapsed(now, w.since) >= window {
			*w = addressCount{}
		}
		if w.tag == tag {
			return w
		}
		if w.count < victim.count {
			victim = w
		}
	}
	*victim = addressCount{tag: tag, since: now}
	return victim
}
