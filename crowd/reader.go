package crowd

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/headcount-live/headcount"
)

// ErrReaderClosed is what a closed [Reader] answers.
var ErrReaderClosed = errors.New("crowd: the reader is closed")

// tellEvery is how far apart two counts of one page are told to one reader, in
// milliseconds.
const tellEvery = 1000

// Reader is told how the counts of its pages change. It has room for one count a
// page: a newer one takes the place of one that was not taken yet, so a reader
// that stalls holds nobody back and never sees old news. Its methods are safe for
// concurrent use. It takes about 500 bytes, and 200 for each page beyond the first.
type Reader struct {
	crowd *Crowd
	ready chan struct{} // holds a token while something may be there to take
	done  chan struct{}

	mu     sync.Mutex
	slots  []slot
	next   int // the slot to look at first, so that no page starves another
	closed bool
}

// slot is the mailbox of one page.
type slot struct {
	key    PageKey
	latest headcount.PageCount // as last put here: what the reader was or will be told
	at     uint32              // engine time of that
	full   bool
}

// Subscribe returns a Reader of some pages, each counted once however often it is
// named. Their current counts are there to be taken at once, in the order given;
// it may block for them as [Crowd.Count] does. The caller must Close it.
func (c *Crowd) Subscribe(ctx context.Context, pages ...string) *Reader {
	r := &Reader{
		crowd: c,
		ready: make(chan struct{}, 1),
		done:  make(chan struct{}),
		slots: make([]slot, 0, len(pages)),
	}
	for _, page := range pages {
		key := c.pageID(page).key
		if !slices.ContainsFunc(r.slots, func(s slot) bool { return s.key == key }) {
			r.slots = append(r.slots, slot{key: key, latest: headcount.PageCount{PageID: page}})
		}
	}
	// Watch first, look then: a change in between is seen twice rather than never.
	for i := range r.slots {
		c.watch(r, i)
	}
	for i := range r.slots {
		r.put(i, c.look(ctx, r.slots[i].key), c.clock.millis())
	}
	c.readers.Add(1)
	return r
}

// Ready returns a channel on which a value arrives when there may be counts to
// take. After one, call Take until it has no more.
func (r *Reader) Ready() <-chan struct{} { return r.ready }

// Done returns a channel that is closed with the reader.
func (r *Reader) Done() <-chan struct{} { return r.done }

// Take returns a count that was not taken yet, if there is one. It never blocks.
func (r *Reader) Take() (count headcount.PageCount, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range r.slots {
		s := &r.slots[r.next]
		r.next = (r.next + 1) % len(r.slots)
		if s.full {
			s.full = false
			return s.latest, true
		}
	}
	return headcount.PageCount{}, false
}

// Next returns the next count, and blocks until there is one. It fails when ctx
// ends, with its error, or the reader is closed, with [ErrReaderClosed].
func (r *Reader) Next(ctx context.Context) (headcount.PageCount, error) {
	for {
		if count, ok := r.Take(); ok {
			return count, nil
		}
		select {
		case <-r.ready:
		case <-r.done:
			return headcount.PageCount{}, ErrReaderClosed
		case <-ctx.Done():
			return headcount.PageCount{}, ctx.Err()
		}
	}
}

// Close ends the subscription. It may be called again.
func (r *Reader) Close() {
	r.mu.Lock()
	closed := r.closed
	r.closed = true
	r.mu.Unlock()
	if closed {
		return
	}
	close(r.done)
	for i := range r.slots {
		r.crowd.unwatch(r, i)
	}
	r.crowd.readers.Add(-1)
}

// offer puts a count into a slot if the reader should be told of it now.
func (r *Reader) offer(i int, count headcount.PageCount, now uint32) {
	r.mu.Lock()
	s := &r.slots[i]
	tell := s.at != 0 && elapsed(now, s.at) >= tellEvery && meaningful(s.latest, count)
	r.mu.Unlock()
	if tell {
		r.put(i, count, now)
	}
}

// put puts a count into a slot, whatever was there.
func (r *Reader) put(i int, count headcount.PageCount, now uint32) {
	r.mu.Lock()
	s := &r.slots[i]
	count.PageID = s.latest.PageID
	s.latest, s.at, s.full = count, now|1, true
	r.mu.Unlock()
	select {
	case r.ready <- struct{}{}:
	default: // a token is there already
	}
}
