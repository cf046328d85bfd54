package crowd

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/headcount-live/headcount"
)

// A leave for a session that this node does not hold is a hint for whichever
// node does. It travels in the note that this node leaves in the registry, which
// every node reads at every Sync:
//
//	byte       format version
//	8 bytes    fingerprint of the hash key, little endian
//	4 bytes    how many partitions there are, little endian
//	uvarint    number of the first leave, counted from the node's boot
//	16 bytes   each: page key and session hash, little endian
//
// The numbers let a reader act on each leave once, so that the session's next
// beat brings it back although the note still names it. The first 13 bytes mean
// the same in every version.
const (
	noteVersion = 1
	noteHeader  = 13
)

// maxLeaves bounds a note to 64 KiB. Leaves beyond it are dropped: the viewers
// leave the count one window later.
const maxLeaves = 4096

type leave struct {
	page    PageKey
	session uint64
	at      time.Time
}

// leaveLog holds the leaves that this node passes on, and up to where it has
// read those of others. It is safe for concurrent use.
type leaveLog struct {
	keep time.Duration // how long a leave is passed on

	mu    sync.Mutex
	first uint64 // number of queue[0]
	queue []leave
	next  map[headcount.NodeID]uint64 // first number that was not read yet
}

// Leave passes a leave on to the other nodes with the next Sync. It is for a
// session that this node does not hold. It never blocks.
func (x *Exchange) Leave(page PageKey, session uint64) {
	if x.Alone() {
		return
	}
	x.leaves.add(leave{page, session, x.opts.Now()})
}

func (l *leaveLog) add(leave leave) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) < maxLeaves {
		l.queue = append(l.queue, leave)
	}
}

// note returns the leaves young enough to be passed on, packed.
func (l *leaveLog) note(fingerprint uint64, partitions int, now time.Time) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := 0
	for old < len(l.queue) && now.Sub(l.queue[old].at) > l.keep {
		old++
	}
	l.queue = append(l.queue[:0], l.queue[old:]...)
	l.first += uint64(old)
	b := binary.LittleEndian.AppendUint64([]byte{noteVersion}, fingerprint)
	b = binary.LittleEndian.AppendUint32(b, uint32(partitions))
	b = binary.AppendUvarint(b, l.first)
	for _, leave := range l.queue {
		b = binary.LittleEndian.AppendUint64(b, uint64(leave.page))
		b = binary.LittleEndian.AppendUint64(b, leave.session)
	}
	return b
}

// note is what a node says to all others, unpacked.
type note struct {
	first  uint64 // number of the first leave
	leaves []byte
}

// readNote unpacks the note of a node that must hash and divide pages as the
// arguments say; [ErrForeignKey] means another hash key. A note of another version
// has no leaves that could be read, which only delays them, for leaves are hints.
func readNote(b []byte, fingerprint uint64, partitions int) (note, error) {
	if len(b) < noteHeader {
		return note{}, errMalformed
	}
	if binary.LittleEndian.Uint64(b[1:]) != fingerprint {
		return note{}, ErrForeignKey
	}
	if n := binary.LittleEndian.Uint32(b[9:]); n != uint32(partitions) {
		return note{}, foreignPartitions(uint64(n), partitions)
	}
	if b[0] != noteVersion {
		return note{}, nil
	}
	first, size := binary.Uvarint(b[noteHeader:])
	if size <= 0 {
		return note{}, errMalformed
	}
	return note{first, b[noteHeader+size:]}, nil
}

// hear calls forget with every leave in a node's note that was not read before.
func (l *leaveLog) hear(node headcount.NodeID, n note, forget func(PageKey, uint64)) {
	l.mu.Lock()
	next := l.next[node]
	l.mu.Unlock()
	number := n.first
	for b := n.leaves; len(b) >= 16; b = b[16:] {
		if number >= next {
			forget(PageKey(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint64(b[8:]))
		}
		number++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = map[headcount.NodeID]uint64{}
	}
	l.next[node] = max(next, number)
}

// forget drops how far nodes were read that are gone.
func (l *leaveLog) forget(gone func(headcount.NodeID) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.next {
		if gone(id) {
			delete(l.next, id)
		}
	}
}
