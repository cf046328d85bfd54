package crowd

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/headcount-live/headcount/crowd/sketch"
)

// Merger turns this node's window into snapshots for others, and the window and
// the snapshots of others into counts. It keeps its working memory between
// calls, so one goroutine at a time may use it; OpenSnapshot, AppendCounts and
// ReadCounts touch none of it and are safe at any time.
type Merger struct {
	fingerprint uint64
	partitions  int
	forms       forms

	pages    []LocalPage
	sessions []uint64
	encoded  []byte
	scratch  sketch.Sketch
	union    Union
	readers  []snapshotReader
}

// NewMerger returns a Merger for a fleet of so many partitions under the hash key
// with that fingerprint ([headcount.Hasher.Fingerprint]). Up to exactThreshold
// sessions this node speaks of a page as an exact list, above as a sketch, and as
// a list again below 0.9 of it.
func NewMerger(fingerprint uint64, partitions, exactThreshold int) *Merger {
	return &Merger{
		fingerprint: fingerprint,
		partitions:  partitions,
		forms:       newForms(partitions, exactThreshold),
	}
}

func (m *Merger) header(partition int) header {
	return header{m.fingerprint, m.partitions, partition}
}

// localPages returns the pages of a partition by ascending key, until the next
// call.
func (m *Merger) localPages(local Local, partition int) []LocalPage {
	m.pages = local.AppendPages(m.pages[:0], partition, m.partitions)
	slices.SortFunc(m.pages, func(a, b LocalPage) int { return cmp.Compare(a.Page, b.Page) })
	return m.pages
}

// AppendSnapshot appends to b the packed form of all that this node hears on a
// partition.
func (m *Merger) AppendSnapshot(b []byte, local Local, partition int) []byte {
	round := m.forms.begin(partition)
	w := snapshotWriter{m.header(partition).writer(b, snapshotMagic)}
	for _, p := range m.localPages(local, partition) {
		m.sessions = local.AppendSessions(m.sessions[:0], p.Page)
		switch n := len(m.sessions); {
		case n == 0: // the last one left since the page was listed
		case round.sketches(p.Page, n):
			m.encoded, _ = m.sketchOf(m.sessions).AppendBinary(m.encoded[:0])
			w.sketch(p.Page, m.encoded, n)
		default:
			w.list(p.Page, shortHashes(m.sessions))
		}
	}
	round.end()
	return w.finish()
}

// Merge counts the distinct viewers on every page of a partition, from what this
// node hears and the snapshots of all others, at most one a node. Pages that one
// node alone speaks of cost no union. An error means that a snapshot is
// malformed; there is no count then, for it would lack somebody's viewers.
func (m *Merger) Merge(local Local, partition int, others []Snapshot) (*Counts, error) {
	round := m.forms.begin(partition)
	pages := m.localPages(local, partition)
	if err := m.openReaders(others); err != nil {
		return nil, err
	}
	c := &Counts{keys: make([]PageKey, 0, len(pages)), tallies: make([]uint32, 0, len(pages))}
	for {
		key, found := m.lowest(pages)
		if !found {
			round.end()
			return c, nil
		}
		own := 0
		if len(pages) > 0 && pages[0].Page == key {
			own, pages = pages[0].Sessions, pages[1:]
		}
		asSketch := round.sketches(key, own)
		t, err := m.tally(local, key, own, asSketch)
		if err != nil {
			return nil, err
		}
		if t.Count > 0 {
			c.add(key, t)
		}
	}
}

func (m *Merger) openReaders(others []Snapshot) error {
	m.readers = m.readers[:0]
	for _, s := range others {
		r := snapshotReader{node: s.node, pageReader: s.pages}
		if err := r.advance(); err != nil {
			return err
		}
		m.readers = append(m.readers, r)
	}
	return nil
}

// lowest returns the first page that is still to be counted.
func (m *Merger) lowest(pages []LocalPage) (key PageKey, found bool) {
	if len(pages) > 0 {
		key, found = pages[0].Page, true
	}
	for i := range m.readers {
		if r := &m.readers[i]; !r.done && (!found || r.key < key) {
			key, found = r.key, true
		}
	}
	return key, found
}

// tally counts one page, of which this node hears own sessions, and moves the
// readers that are on it on.
func (m *Merger) tally(local Local, key PageKey, own int, asSketch bool) (Tally, error) {
	speakers, alone := 0, own
	if own > 0 {
		speakers = 1
	}
	for i := range m.readers {
		if r := &m.readers[i]; !r.done && r.key == key {
			speakers++
			alone = r.sessions
		}
	}
	union := speakers > 1
	if union {
		m.union.Reset()
		m.addOwn(local, key, own, asSketch)
	}
	for i := range m.readers {
		r := &m.readers[i]
		if r.done || r.key != key {
			continue
		}
		if union {
			if err := r.addTo(&m.union, &m.scratch); err != nil {
				return Tally{}, fmt.Errorf("snapshot by node %s, page %016x: %w", r.node, uint64(key), err)
			}
		}
		if err := r.advance(); err != nil {
			return Tally{}, err
		}
	}
	if union {
		return m.union.Tally(), nil
	}
	return Tally{Count: alone}, nil
}

func (m *Merger) addOwn(local Local, key PageKey, own int, asSketch bool) {
	if own == 0 {
		return
	}
	m.sessions = local.AppendSessions(m.sessions[:0], key)
	if asSketch {
		m.union.AddSketch(m.sketchOf(m.sessions), len(m.sessions))
		return
	}
	m.union.AddList(shortHashes(m.sessions))
}

// sketchOf returns the sketch of hashes, in memory that is used again.
func (m *Merger) sketchOf(hashes []uint64) *sketch.Sketch {
	m.scratch.Reset()
	for _, h := range hashes {
		m.scratch.Insert(h)
	}
	return &m.scratch
}
