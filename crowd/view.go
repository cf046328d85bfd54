package crowd

import (
	"cmp"
	"slices"
)

// view reads the window partition by partition, each as of one moment, for
// reports, merges and snapshots. It implements [Local]. It keeps its working
// memory, so one goroutine at a time may use it.
type view struct {
	window *window

	loaded   int // the partition that the rest is about, -1 for none
	entries  []entry
	pages    []viewPage // ascending by key
	sessions []uint64   // grouped by page
	starts   []uint32   // by record: where its group goes on
}

// viewPage is a page and where its sessions are.
type viewPage struct {
	id         pageID
	start, end int
}

func newView(w *window) *view { return &view{window: w, loaded: -1} }

// AppendPages implements [Local].
func (v *view) AppendPages(dst []LocalPage, partition, _ int) []LocalPage {
	v.loaded = -1 // whoever asks for pages wants to see the present
	p := &v.window.parts[partition].pages
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.index.all {
		r := p.record(e.page)
		dst = append(dst, LocalPage{Page: r.id.key, Sessions: int(r.live)})
	}
	return dst
}

// AppendSessions implements [Local].
func (v *view) AppendSessions(dst []uint64, page PageKey) []uint64 {
	if partition := page.Partition(len(v.window.parts)); partition != v.loaded {
		v.load(partition)
	}
	i, found := slices.BinarySearchFunc(v.pages, page, func(p viewPage, key PageKey) int {
		return cmp.Compare(p.id.key, key)
	})
	if !found {
		return dst
	}
	return append(dst, v.sessions[v.pages[i].start:v.pages[i].end]...)
}

// load takes a copy of a partition and groups its sessions by page.
func (v *view) load(partition int) {
	v.copy(&v.window.parts[partition])
	v.loaded = partition
	v.sessions = slices.Grow(v.sessions[:0], len(v.entries))[:len(v.entries)]
	for _, e := range v.entries {
		at := v.starts[e.page]
		v.sessions[at] = e.tag
		v.starts[e.page]++
	}
	for _, p := range v.pages {
		for i := p.start; i < p.end; i++ {
			v.sessions[i] ^= p.id.salt
		}
	}
}

// copy fills entries, pages and starts while it holds the whole partition.
func (v *view) copy(p *partition) {
	p.lock()
	defer p.unlock()

	v.entries, v.pages = v.entries[:0], v.pages[:0]
	for i := range p.shards {
		for e := range p.shards[i].table.all {
			v.entries = append(v.entries, *e)
		}
	}
	v.starts = slices.Grow(v.starts[:0], int(p.pages.used))[:p.pages.used]
	at := 0
	for e := range p.pages.index.all {
		r := p.pages.record(e.page)
		v.starts[e.page] = uint32(at)
		v.pages = append(v.pages, viewPage{id: r.id, start: at, end: at + int(r.live)})
		at += int(r.live)
	}
}
