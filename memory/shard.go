package memory

import (
	"encoding/binary"
	"sync"

	"github.com/headcount-live/headcount"
)

// maxTombs is how many tombstones an account keeps.
const maxTombs = 16

// shard holds all state of the accounts whose hashes fall to it.
type shard struct {
	mu       sync.Mutex
	leases   table // by account and lease id
	accounts table // by account: oldest lease, newest tombstone
	cells    arena
	watchers map[headcount.LeaseID][]*watcher
	tombs    int
	swept    int // slot of the lease table where the sweep goes on
	buried   int // slot of the account table likewise
	_        [64]byte
}

// leaseTag is the lease table's tag of a lease. Both hashes are keyed, so nobody
// can aim for a collision; among 100 million leases an unknown id meets the tag of
// a live one once in 2e11 renewals, and then keeps a stranger's lease for one TTL.
func leaseTag(a headcount.AccountHash, id headcount.LeaseID) uint64 {
	x := binary.LittleEndian.Uint64(a[8:]) ^ binary.LittleEndian.Uint64(id[:8])*0x9e3779b97f4a7c15
	x ^= binary.LittleEndian.Uint64(id[8:])
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return max(x, 1)
}

func accountTag(a headcount.AccountHash) uint64 {
	return max(binary.LittleEndian.Uint64(a[:8]), 1)
}

func (s *shard) lease(ref uint32) *leaseCell { return (*leaseCell)(s.cells.at(ref)) }
func (s *shard) tomb(ref uint32) *tombCell   { return (*tombCell)(s.cells.at(ref)) }

// account returns the entry of an account, made if need be. It is valid until the
// account table is next written to.
func (s *shard) account(a headcount.AccountHash) *entry {
	tag := accountTag(a)
	if e := s.accounts.find(tag); e != nil {
		return e
	}
	return s.accounts.insert(entry{tag: tag})
}

// forget drops the account's entry once nothing hangs on it.
func (s *shard) forget(a headcount.AccountHash) {
	if e := s.accounts.find(accountTag(a)); e != nil && e.a == 0 && e.b == 0 {
		s.accounts.remove(e.tag)
	}
}

// add appends a lease to its account.
func (s *shard) add(c leaseCell, m headcount.Metadata, renewed uint32) {
	ref := s.store(c, m)
	s.leases.insert(entry{tag: leaseTag(c.account, c.id), a: ref, b: renewed})
	e := s.account(c.account)
	if e.a == 0 {
		e.a = ref
		return
	}
	last := s.lease(e.a)
	for last.next != 0 {
		last = s.lease(last.next)
	}
	last.next = ref
}

// store writes a cell with its texts.
func (s *shard) store(c leaseCell, m headcount.Metadata) uint32 {
	c.meta, c.profile, c.title = uint16(len(m.DeviceMeta)), uint8(len(m.ProfileID)), uint8(len(m.TitleID))
	ref := s.cells.alloc(c.units())
	cell := s.lease(ref)
	*cell = c
	meta, profile, title := cell.texts()
	copy(meta, m.DeviceMeta)
	copy(profile, m.ProfileID)
	copy(title, m.TitleID)
	return ref
}

// replaceCell puts another cell in the place of one, after its texts changed.
func (s *shard) replaceCell(old, fresh uint32) {
	c := s.lease(fresh)
	s.leases.find(leaseTag(c.account, c.id)).a = fresh
	e := s.accounts.find(accountTag(c.account))
	if e.a == old {
		e.a = fresh
	} else {
		s.before(e.a, old).next = fresh
	}
	s.cells.release(old, s.lease(old).units())
}

func (s *shard) before(first, ref uint32) *leaseCell {
	c := s.lease(first)
	for c.next != ref {
		c = s.lease(c.next)
	}
	return c
}

// drop removes a lease, leaving its account's entry in place.
func (s *shard) drop(ref uint32) {
	c := s.lease(ref)
	s.leases.remove(leaseTag(c.account, c.id))
	e := s.accounts.find(accountTag(c.account))
	if e.a == ref {
		e.a = c.next
	} else {
		s.before(e.a, ref).next = c.next
	}
	s.cells.release(ref, c.units())
}

// bury leaves a tombstone, newest first, and drops those beyond the newest sixteen.
func (s *shard) bury(c tombCell, by string) {
	c.by = uint16(len(by))
	ref := s.cells.alloc(c.units())
	e := s.account(c.account)
	c.next = e.b
	e.b = ref
	cell := s.tomb(ref)
	*cell = c
	copy(cell.text(), by)
	s.tombs++

	n := 0
	for link := &e.b; *link != 0; {
		t := s.tomb(*link)
		if t.account == c.account {
			if n++; n > maxTombs {
				s.unlinkTomb(link)
				continue
			}
		}
		link = &t.next
	}
}

// unlinkTomb frees the tombstone that link points to.
func (s *shard) unlinkTomb(link *uint32) {
	ref := *link
	t := s.tomb(ref)
	*link = t.next
	s.cells.release(ref, t.units())
	s.tombs--
}
