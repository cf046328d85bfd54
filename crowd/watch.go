package crowd

import (
	"slices"
	"sync"
)

// watchShard knows who reads which pages of one partition. Pages that nobody
// reads are not in it and cost nothing.
type watchShard struct {
	mu    sync.Mutex
	pages map[PageKey][]watcher
}

// watcher is a reader and which of its slots is for the page.
type watcher struct {
	reader *Reader
	slot   int
}

func (c *Crowd) watchShard(key PageKey) *watchShard {
	return &c.watches[key.Partition(c.opts.Partitions)]
}

func (c *Crowd) watch(r *Reader, slot int) {
	key := r.slots[slot].key
	w := c.watchShard(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pages == nil {
		w.pages = map[PageKey][]watcher{}
	}
	w.pages[key] = append(w.pages[key], watcher{r, slot})
}

func (c *Crowd) unwatch(r *Reader, slot int) {
	key := r.slots[slot].key
	w := c.watchShard(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	watchers := w.pages[key]
	i := slices.Index(watchers, watcher{r, slot})
	if watchers = slices.Delete(watchers, i, i+1); len(watchers) == 0 {
		delete(w.pages, key)
		return
	}
	w.pages[key] = watchers
}

// tell offers the counts of all watched pages to their readers.
func (c *Crowd) tell() {
	for i := range c.watches {
		c.tellPartition(&c.watches[i])
	}
}

func (c *Crowd) tellPartition(w *watchShard) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := c.clock.millis()
	for key, watchers := range w.pages {
		count := c.peek(key, now)
		for _, it := range watchers {
			it.reader.offer(it.slot, count, now)
		}
	}
}
