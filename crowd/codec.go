package crowd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"math/bits"
)

// Two packed values travel between nodes: a snapshot (what one node hears on a
// partition) and counts (what its owner made of all snapshots). Both begin alike:
//
//	3 bytes    "hcS" for a snapshot, "hcC" for counts
//	byte       format version
//	8 bytes    fingerprint of the hash key, little endian
//	uvarint    how many partitions there are
//	uvarint    which one this is
//	4 bytes    how many pages follow, little endian
//
// Pages follow by ascending key, each key as its distance from the one before
// in as few bytes as hold it. Equal content has equal bytes.
const formatVersion = 1

const (
	snapshotMagic = "hcS"
	countsMagic   = "hcC"
)

// ErrForeignKey means that a value was made under another hash key, so that its
// hashes mean other pages and sessions than here.
var ErrForeignKey = errors.New("crowd: made under another HEADCOUNT_HASH_KEY; give all nodes of a fleet the same one")

var errMalformed = errors.New("crowd: malformed encoding: it was cut or altered, or is something else")

func foreignPartitions(theirs uint64, ours int) error {
	return fmt.Errorf("crowd: made for %d partitions, here are %d; give all nodes of a fleet the same --partitions", theirs, ours)
}

// header is what a packed value says of itself.
type header struct {
	fingerprint           uint64
	partitions, partition int
}

// pageWriter appends a packed value, page by page in ascending order.
type pageWriter struct {
	buf   []byte
	count int // where the number of pages is written at the end
	pages uint32
	last  PageKey
}

func (h header) writer(b []byte, magic string) pageWriter {
	b = append(b, magic...)
	b = append(b, formatVersion)
	b = binary.LittleEndian.AppendUint64(b, h.fingerprint)
	b = binary.AppendUvarint(b, uint64(h.partitions))
	b = binary.AppendUvarint(b, uint64(h.partition))
	return pageWriter{buf: append(b, 0, 0, 0, 0), count: len(b)}
}

// page appends what begins every page: a byte with the size of the key's
// distance in its lowest three bits and flags above, the distance, and the number
// if small, which stands for it in the flags, is zero.
func (w *pageWriter) page(key PageKey, flags, small byte, number int) {
	var word [8]byte
	distance := uint64(key - w.last)
	binary.LittleEndian.PutUint64(word[:], distance)
	size := keySize(distance)
	w.buf = append(append(w.buf, flags|byte(size-1)), word[:size]...)
	if small == 0 {
		w.buf = binary.AppendUvarint(w.buf, uint64(number))
	}
	w.last = key
	w.pages++
}

// finish returns the whole value.
func (w *pageWriter) finish() []byte {
	binary.LittleEndian.PutUint32(w.buf[w.count:], w.pages)
	return w.buf
}

// keySize returns how many bytes hold a distance: 1 to 8.
func keySize(distance uint64) int { return max(1, (bits.Len64(distance)+7)/8) }

// open checks that data begins as h says it must and returns a reader of what
// follows.
func (h header) open(data []byte, magic string) (pageReader, error) {
	if len(data) < 12 || string(data[:3]) != magic {
		return pageReader{}, errMalformed
	}
	if v := data[3]; v != formatVersion {
		return pageReader{}, fmt.Errorf("crowd: format version %d is not known here, only %d; run the same release on all nodes", v, formatVersion)
	}
	if binary.LittleEndian.Uint64(data[4:]) != h.fingerprint {
		return pageReader{}, ErrForeignKey
	}
	r := pageReader{header: h, data: data[12:]}
	partitions, partition := r.uvarint(), r.uvarint()
	var count [4]byte
	copy(count[:], r.bytes(4))
	pages := binary.LittleEndian.Uint32(count[:])
	switch {
	case r.failed || uint64(pages) > uint64(len(r.data)/minPageSize):
		return pageReader{}, errMalformed
	case partitions != uint64(h.partitions):
		return pageReader{}, foreignPartitions(partitions, h.partitions)
	case partition != uint64(h.partition):
		return pageReader{}, fmt.Errorf("crowd: made for partition %d, not %d", partition, h.partition)
	}
	r.left = int(pages)
	return r, nil
}

// minPageSize is what the smallest page takes, which bounds how many pages there
// can be before any is read.
const minPageSize = 2

// pageReader takes pages off a packed value. It believes no length: whatever
// does not add up sets failed, after which it returns zeros.
type pageReader struct {
	header
	data   []byte
	left   int // pages still to come
	key    PageKey
	began  bool
	failed bool
}

func (r *pageReader) fail() { r.failed, r.data = true, nil }

func (r *pageReader) bytes(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.fail()
		return nil
	}
	b := r.data[:n:n]
	r.data = r.data[n:]
	return b
}

func (r *pageReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// uvarint takes a number in its shortest form.
func (r *pageReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || n > 1 && r.data[n-1] == 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// count takes a number of sessions: small if it is not zero, or else an uvarint
// of more than limit, the largest that small can hold.
func (r *pageReader) count(small, limit byte) int {
	if small != 0 {
		return int(small)
	}
	n := r.uvarint()
	if n <= uint64(limit) || n > maxSessions {
		r.fail()
		return 0
	}
	return int(n)
}

// maxSessions bounds the number that a page may claim, so that sums of many
// cannot overflow.
const maxSessions = 1 << 40

// page takes what [pageWriter.page] writes: it moves key on and returns the flags.
func (r *pageReader) page() (flags byte) {
	head := r.byte()
	size := int(head&7) + 1
	var word [8]byte
	copy(word[:], r.bytes(size))
	distance := binary.LittleEndian.Uint64(word[:])
	key := r.key + PageKey(distance)
	switch {
	case keySize(distance) != size,
		r.began && key <= r.key, // the same again, or beyond the last
		key.Partition(r.partitions) != r.partition:
		r.fail()
	}
	r.key, r.began = key, true
	r.left--
	return head &^ 7
}

// close reports whether all went well and nothing is left over.
func (r *pageReader) close() error {
	if r.failed || r.left > 0 || len(r.data) > 0 {
		return errMalformed
	}
	return nil
}

// versionOf returns the version under which a packed value is stored: a checksum
// of its bytes, so that two owners who found the same say the same. It is never
// zero.
func versionOf(data []byte) uint64 {
	return max(1, crc64.Checksum(data, crc64.MakeTable(crc64.ECMA)))
}
