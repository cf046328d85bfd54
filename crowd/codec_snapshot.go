package crowd

import (
	"encoding/binary"
	"fmt"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd/sketch"
)

// A page of a snapshot is
//
//	byte        bits 0-2 bytes of the key's distance, less one
//	            bits 3-4 form: 0 list, 1 sketch
//	            bits 5-7 how many sessions, if 1 to 7, otherwise 0
//	1-8 bytes   distance from the key before, little endian
//	uvarint     how many sessions, if not said above
//	list        6 bytes each, big endian, ascending
//	sketch      uvarint length, and a sketch's binary form
//
// Among a million pages in 64 partitions a page with two viewers takes 19 bytes.
// Lists are not compressed further: the gaps of n ascending hashes save log2(n)
// of 48 bits less two, nothing for the many small pages and 15 % at a thousand.
const (
	formList   = 0 << 3
	formSketch = 1 << 3
	formMask   = 3 << 3

	smallShift = 5
	smallMost  = 7

	hashBytes = sketch.HashBits / 8
)

// snapshotWriter appends the pages of a snapshot.
type snapshotWriter struct{ pageWriter }

func (w *snapshotWriter) head(page PageKey, form byte, sessions int) {
	small := byte(0)
	if sessions <= smallMost {
		small = byte(sessions)
	}
	w.page(page, form|small<<smallShift, small, sessions)
}

// list appends a page as its hashes, which are at least one, ascending, distinct
// and short.
func (w *snapshotWriter) list(page PageKey, hashes []uint64) {
	w.head(page, formList, len(hashes))
	for _, h := range hashes {
		w.buf = append(w.buf, byte(h>>56), byte(h>>48), byte(h>>40), byte(h>>32), byte(h>>24), byte(h>>16))
	}
}

// sketch appends a page as the binary form of the sketch of so many sessions, at
// least one.
func (w *snapshotWriter) sketch(page PageKey, encoded []byte, sessions int) {
	w.head(page, formSketch, sessions)
	w.buf = binary.AppendUvarint(w.buf, uint64(len(encoded)))
	w.buf = append(w.buf, encoded...)
}

// Snapshot is what another node said about a partition. Its pages are read only
// when it is merged.
type Snapshot struct {
	node  headcount.NodeID
	pages pageReader
}

// OpenSnapshot checks that a value from a store is a snapshot of its partition in
// a format and under a hash key that are known here. The error is [ErrForeignKey]
// for another key. The value's Data must not change from then on.
func (m *Merger) OpenSnapshot(v headcount.PartitionValue) (Snapshot, error) {
	pages, err := m.header(v.Partition).open(v.Data, snapshotMagic)
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of partition %d by node %s: %w", v.Partition, v.Node, err)
	}
	return Snapshot{v.Node, pages}, nil
}

// snapshotReader is a place in a snapshot: one page, or its end.
type snapshotReader struct {
	node headcount.NodeID
	pageReader
	form     byte
	sessions int
	body     []byte // hashes of a list, or an encoded sketch
	done     bool
}

// advance moves to the next page, or sets done at the end.
func (r *snapshotReader) advance() error {
	if r.left == 0 {
		r.done = true
		return r.named(r.close())
	}
	flags := r.page()
	r.form = flags & formMask
	r.sessions = r.count(flags>>smallShift, smallMost)
	switch r.form {
	case formList:
		if r.sessions > len(r.data)/hashBytes {
			r.fail()
		}
		r.body = r.bytes(r.sessions * hashBytes)
	case formSketch:
		r.body = r.bytes(int(min(r.uvarint(), maxSessions)))
	default:
		r.fail()
	}
	if r.failed {
		return r.named(errMalformed)
	}
	return nil
}

func (r *snapshotReader) named(err error) error {
	if err != nil {
		return fmt.Errorf("snapshot of partition %d by node %s: %w", r.partition, r.node, err)
	}
	return nil
}

// addTo adds the page to a union; s is room to decode a sketch into.
func (r *snapshotReader) addTo(u *Union, s *sketch.Sketch) error {
	if r.form == formSketch {
		if err := s.UnmarshalBinary(r.body); err != nil {
			return err
		}
		u.AddSketch(s, r.sessions)
		return nil
	}
	from := len(u.hashes)
	for b := r.body; len(b) > 0; b = b[hashBytes:] {
		u.hashes = append(u.hashes, uint64(b[0])<<56|uint64(b[1])<<48|uint64(b[2])<<40|
			uint64(b[3])<<32|uint64(b[4])<<24|uint64(b[5])<<16)
	}
	if !ascending(u.hashes[from:]) {
		return errMalformed
	}
	return nil
}

func ascending(hashes []uint64) bool {
	for i := 1; i < len(hashes); i++ {
		if hashes[i] <= hashes[i-1] {
			return false
		}
	}
	return true
}
