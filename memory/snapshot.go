package memory

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/headcount-live/headcount"
)

// The leases of a node, as a restart restores them:
//
//	1 byte   format version
//	4 bytes  generation
//	1 byte   1 while leases of an earlier generation may still re-register
//	records  each a kind and its fields, leases of an account oldest first, then its
//	         tombstones oldest first
//	1 byte   0, the end
//
// Numbers are little-endian, moments Unix milliseconds.
const leasesVersion = 1

const (
	endRecord   = 0
	leaseRecord = 1 // account 16, id 16, device 12, started 8, seen 8, lengths 2 1 1, texts
	tombRecord  = 2 // account 16, id 16, reason 1, stopped 8, length 2, by
)

var errLeases = errors.New("memory: the snapshot of leases is malformed")

// WriteSnapshot writes all leases and tombstones to w, shard by shard, while others
// are served. A write error comes back as it is.
func (s *Leases) WriteSnapshot(w io.Writer) error {
	head := binary.LittleEndian.AppendUint32([]byte{leasesVersion}, s.generation.Load())
	head = append(head, 0)
	if s.fresh() {
		head[5] = 1
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	var buf []byte
	for i := range s.shards {
		buf = s.appendShard(buf[:0], &s.shards[i])
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	_, err := w.Write([]byte{endRecord})
	return err
}

func (s *Leases) appendShard(b []byte, sh *shard) []byte {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := s.clock.now()
	var graves []*tombCell
	slots := sh.accounts.slots()
	step := stride(slots)
	for i, at := 0, 0; i < slots; i, at = i+1, (at+step)%slots {
		e := sh.accounts.at(at)
		if e.tag == 0 {
			continue
		}
		for ref := e.a; ref != 0; ref = sh.lease(ref).next {
			b = s.appendLease(b, sh, sh.lease(ref), now)
		}
		graves = graves[:0]
		for ref := e.b; ref != 0; ref = sh.tomb(ref).next {
			graves = append(graves, sh.tomb(ref))
		}
		for _, t := range slices.Backward(graves) {
			b = s.appendTomb(b, t, now)
		}
	}
	return b
}

// stride returns a step that visits every slot of a table once and spreads the first
// few as evenly as all: the golden section. Accounts written in the order of their
// slots would come back sorted by tag, and crowd the front of a table that grows while
// they do, until every probe runs through all of them.
func stride(slots int) int {
	step := max(1, slots*618/1000)
	for gcd(step, slots) > 1 {
		step++
	}
	return step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (s *Leases) appendLease(b []byte, sh *shard, c *leaseCell, now int64) []byte {
	stamp := sh.leases.find(leaseTag(c.account, c.id)).b
	if s.lapsed(now, stamp) {
		return b
	}
	b = append(b, leaseRecord)
	b = append(append(append(b, c.account[:]...), c.id[:]...), c.device[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.wall(c.started)))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.seen(c, stamp, now)))
	b = binary.LittleEndian.AppendUint16(b, c.meta)
	b = append(b, c.profile, c.title)
	return append(b, c.allTexts()...)
}

func (s *Leases) appendTomb(b []byte, t *tombCell, now int64) []byte {
	if now-t.since >= s.ttl {
		return b
	}
	b = append(b, tombRecord)
	b = append(append(b, t.account[:]...), t.id[:]...)
	b = append(b, byte(t.reason))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.wall(t.stopped)))
	b = binary.LittleEndian.AppendUint16(b, t.by)
	return append(b, t.text()...)
}

// Restore takes in what WriteSnapshot wrote, into a store that is empty and not yet
// used. Leases and tombstones get one full TTL from now; when a stream started and
// was last seen is kept, and so is the generation: nothing was lost. On an error
// the store is empty again.
func (s *Leases) Restore(r io.Reader) error {
	in := bufio.NewReaderSize(r, 256<<10)
	head := make([]byte, 6)
	if _, err := io.ReadFull(in, head); err != nil {
		return fmt.Errorf("%w: %w", errLeases, err)
	}
	if head[0] != leasesVersion {
		return fmt.Errorf("memory: the snapshot of leases has format %d; this version reads format %d", head[0], leasesVersion)
	}
	now := s.clock.now()
	s.restoredAt = uint32(now)
	if err := s.restoreRecords(in, now); err != nil {
		s.clear()
		return fmt.Errorf("%w: %w", errLeases, err)
	}
	s.generation.Store(binary.LittleEndian.Uint32(head[1:]))
	s.lost.Store(neverLost)
	if head[5] == 1 { // a crash shortly before: who has not beaten since gets one TTL more, as the leases do
		s.lost.Store(now)
	}
	return nil
}

func (s *Leases) restoreRecords(in *bufio.Reader, now int64) error {
	wall := int64(s.wall(now))
	texts := make([]byte, math.MaxUint16)
	for {
		kind, err := in.ReadByte()
		if err != nil {
			return err
		}
		switch kind {
		case endRecord:
			return nil
		case leaseRecord:
			err = s.restoreLease(in, texts, now, wall)
		case tombRecord:
			err = s.restoreTomb(in, texts, now, wall)
		default:
			err = fmt.Errorf("a record of kind %d", kind)
		}
		if err != nil {
			return err
		}
	}
}

func (s *Leases) restoreLease(in io.Reader, texts []byte, now, wall int64) error {
	var b [64]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return err
	}
	m, p, t := int(binary.LittleEndian.Uint16(b[60:])), int(b[62]), int(b[63])
	if m > headcount.MaxDeviceMetaLen || p > headcount.MaxIDLen || t > headcount.MaxIDLen {
		return errors.New("a text longer than any can be")
	}
	if _, err := io.ReadFull(in, texts[:m+p+t]); err != nil {
		return err
	}
	started := int64(binary.LittleEndian.Uint64(b[44:]))
	seen := int64(binary.LittleEndian.Uint64(b[52:]))
	c := leaseCell{
		account:  headcount.AccountHash(b[:16]),
		id:       headcount.LeaseID(b[16:32]),
		device:   [12]byte(b[32:44]),
		started:  now - (wall - started),
		restored: uint32(min(max(seen-started, 0)+1, math.MaxUint32)),
	}
	all := string(texts[:m+p+t])
	meta := headcount.Metadata{DeviceMeta: all[:m], ProfileID: all[m : m+p], TitleID: all[m+p:]}
	sh := s.shardOf(c.account)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.leases.find(leaseTag(c.account, c.id)) != nil {
		return errors.New("a lease twice")
	}
	sh.add(c, meta, uint32(now))
	return nil
}

func (s *Leases) restoreTomb(in io.Reader, texts []byte, now, wall int64) error {
	var b [43]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return err
	}
	by := int(binary.LittleEndian.Uint16(b[41:]))
	if by > headcount.MaxDeviceMetaLen {
		return errors.New("a text longer than any can be")
	}
	if _, err := io.ReadFull(in, texts[:by]); err != nil {
		return err
	}
	t := tombCell{
		account: headcount.AccountHash(b[:16]),
		id:      headcount.LeaseID(b[16:32]),
		reason:  headcount.Reason(b[32]),
		stopped: now - (wall - int64(binary.LittleEndian.Uint64(b[33:]))),
		since:   now,
	}
	sh := s.shardOf(t.account)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.bury(t, string(texts[:by]))
	return nil
}

// clear drops everything.
func (s *Leases) clear() {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sh.leases.release()
		sh.accounts.release()
		sh.leases.n, sh.accounts.n, sh.tombs = 0, 0, 0
		sh.cells.clear()
		sh.mu.Unlock()
	}
}
