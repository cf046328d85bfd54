package httpapi

import (
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

// pageStream answers GET /api/v1/pages/{page_id}/viewer-count/stream. It blocks
// until the reader goes or the server drains.
func (s *Server) pageStream(w http.ResponseWriter, r *http.Request, x *exchange) {
	page := x.args[0]
	if err := headcount.CheckID("page_id", page, headcount.MaxPageIDLen); err != nil {
		x.fail(err)
		return
	}
	s.streamCounts(w, r, x, "page", []string{page})
}

// gridStream answers GET /api/v1/pages/viewer-count:stream.
func (s *Server) gridStream(w http.ResponseWriter, r *http.Request, x *exchange) {
	pages, fault := x.grid()
	if fault != nil {
		x.fail(fault)
		return
	}
	s.streamCounts(w, r, x, "grid", pages)
}

func (s *Server) streamCounts(w http.ResponseWriter, r *http.Request, x *exchange, kind string, pages []string) {
	from := proxies(s.config.TrustedProxies).client(r)
	if fault := s.readers.enter(from); fault != nil {
		x.fail(fault)
		return
	}
	defer s.readers.leave(from)
	open := s.metrics.readers.WithLabelValues(kind)
	open.Inc()
	defer open.Dec()

	reader := s.crowd.Subscribe(r.Context(), pages...)
	defer reader.Close()
	e := openEvents(w, x, s.readers.jitter(time.Second, 5*time.Second))
	defer e.close()
	if r.Method == http.MethodHead {
		return
	}
	told := told{grid: kind == "grid", pages: pages, tags: make([]string, len(pages))}
	told.first(e, reader, r.Header.Get("Last-Event-ID"))
	s.tellCounts(e, r, reader, &told)
}

// tellCounts writes counts as the reader gets them.
func (s *Server) tellCounts(e *eventWriter, r *http.Request, reader *crowd.Reader, told *told) {
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for e.err == nil {
		select {
		case <-reader.Ready():
			for count, ok := reader.Take(); ok && e.err == nil; count, ok = reader.Take() {
				told.tell(e, &count)
			}
		case <-r.Context().Done():
			return
		case <-s.readers.drain:
			_ = e.retry(s.readers.jitter(5*time.Second, 30*time.Second))
			return
		case <-alive.C:
			_ = e.comment()
		}
	}
}

// told is what a reader of counts knows. Its id names all of it, so that a reader
// who reconnects with it is not told the same again.
type told struct {
	grid  bool
	pages []string
	tags  []string // of the count of each page
	data  []byte
}

// first tells the current counts, unless they are what the reader was told last.
func (t *told) first(e *eventWriter, reader *crowd.Reader, lastID string) {
	var counts []headcount.PageCount
	for count, ok := reader.Take(); ok; count, ok = reader.Take() {
		t.note(&count)
		counts = append(counts, count)
	}
	if lastID != "" && lastID == t.id() {
		return
	}
	clear(t.tags)
	for i := range counts {
		t.tell(e, &counts[i])
	}
}

func (t *told) note(c *headcount.PageCount) {
	t.tags[slices.Index(t.pages, c.PageID)] = string(appendTag(nil, c))
}

func (t *told) tell(e *eventWriter, c *headcount.PageCount) {
	t.note(c)
	event := *c
	if !t.grid {
		event.PageID = ""
	}
	t.data = appendCount(t.data[:0], &event, false)
	_ = e.event("count", t.id(), t.data)
}

// id returns the tag of the one page, or a hash over those of the grid.
func (t *told) id() string {
	if !t.grid {
		return t.tags[0]
	}
	sum := fnv.New64a()
	for _, tag := range t.tags {
		_, _ = sum.Write(append([]byte(tag), ','))
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}
