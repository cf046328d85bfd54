package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

const gridStreamPath = "/api/v1/pages/viewer-count:stream"

func streamPath(page string) string { return countPath(page) + "/stream" }

// stage is a server in a bubble of its own time, with the timeouts of a real one,
// on pipes in memory.
type stage struct {
	*Server
	t     *testing.T
	pipes *pipes
}

// onStage runs a story of event streams in a bubble.
func onStage(t *testing.T, story func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{Server: newServer(t, t.Output()), t: t, pipes: &pipes{conns: make(chan net.Conn)}}
		hs := s.PublicServer()
		go func() { _ = hs.Serve(s.pipes) }()
		story(t, s)
		close(s.pipes.conns)
		_ = hs.Close()
	})
}

func (s *stage) beat(page string, sessions ...string) {
	for _, session := range sessions {
		s.crowd.Beat(page, session, crowd.Visitor{})
	}
}

// viewer reads an event stream and notes what it got when.
type viewer struct {
	t       *testing.T
	conn    net.Conn
	start   time.Time
	scanner *bufio.Scanner
}

// open opens an event stream and reads its retry.
func (s *stage) open(path, lastID string) *viewer {
	s.t.Helper()
	v := &viewer{t: s.t, conn: s.pipes.dial(), start: time.Now()}
	fmt.Fprintf(v.conn, "GET %s HTTP/1.1\r\nHost: x\r\nLast-Event-ID: %s\r\n\r\n", path, lastID)
	res, err := http.ReadResponse(bufio.NewReader(v.conn), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("got %v, %v", res, err)
	}
	s.t.Cleanup(func() { _ = v.conn.Close() })
	v.scanner = bufio.NewScanner(res.Body)
	if retry := v.next(); !strings.HasPrefix(retry, "retry: ") {
		s.t.Errorf("got %q first, want a retry", retry)
	}
	return v
}

// next returns the lines of the next block, "" at the end.
func (v *viewer) next() string {
	var block []string
	for v.scanner.Scan() && v.scanner.Text() != "" {
		block = append(block, v.scanner.Text())
	}
	return strings.Join(block, "\n")
}

// want reads one block and the second it came in, counted from the opening.
func (v *viewer) want(second int, block string) {
	v.t.Helper()
	got := v.next()
	if at := int(time.Since(v.start) / time.Second); got != block || at != second {
		v.t.Errorf("in second %d got %q, want in second %d %q", at, got, second, block)
	}
}

func countEvent(id string, data string) string { return "id: " + id + "\nevent: count\ndata: " + data }

// The current count comes at once, changes follow at most once a second, silence
// is filled with a comment every 15 s, and the last viewer's silence ends in a 0
// although nobody asked. All that outlives the server's timeouts many times.
func TestPageStream(t *testing.T) {
	onStage(t, func(_ *testing.T, s *stage) {
		s.beat("p", "a")
		v := s.open(streamPath("p"), "")
		v.want(0, countEvent("1", `{"count":1,"bucket":"1-10","display":"1","approx":false}`))
		s.beat("p", "b", "c")
		time.Sleep(100 * time.Millisecond)
		s.beat("p", "d") // within the same second: told with the others
		v.want(1, countEvent("4", `{"count":4,"bucket":"1-10","display":"4","approx":false}`))
		s.crowd.Leave("p", "d")
		v.want(2, countEvent("3", `{"count":3,"bucket":"1-10","display":"3","approx":false}`))
		v.want(15, ":")
		v.want(30, ":")
		v.want(45, ":")
		v.want(60, ":")
		v.want(60, countEvent("0", `{"count":0,"bucket":"0","display":"0","approx":false}`))
		v.want(75, ":")
	})
}

// A grid is one connection. Each event says which page it is about; only those
// that changed are told again.
func TestGridStream(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.beat("a", "s")
		s.beat("a,b", "s", "t")
		v := s.open(gridStreamPath+"?ids=a,a%2Cb,a,c", "")
		for _, want := range []string{
			`{"page_id":"a","count":1,"bucket":"1-10","display":"1","approx":false}`,
			`{"page_id":"a,b","count":2,"bucket":"1-10","display":"2","approx":false}`,
			`{"page_id":"c","count":0,"bucket":"0","display":"0","approx":false}`,
		} {
			if got := v.next(); !strings.HasSuffix(got, "\nevent: count\ndata: "+want) {
				t.Errorf("got %q, want %s", got, want)
			}
		}
		s.beat("c", "s")
		want := `{"page_id":"c","count":1,"bucket":"1-10","display":"1","approx":false}`
		if got := v.next(); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %s", got, want)
		}
		v.want(15, ":")
	})
}

// A change of a large count is told when it is one of 5 %, and not before.
func TestStreamTellsMeaningfulChanges(t *testing.T) {
	onStage(t, func(_ *testing.T, s *stage) {
		come := func(from, to int) {
			for i := from; i < to; i++ {
				s.beat("p", fmt.Sprint("s", i))
			}
		}
		come(0, 100)
		v := s.open(streamPath("p"), "")
		v.want(0, countEvent("100", `{"count":100,"bucket":"100+","display":"100+","approx":false}`))
		come(100, 104)
		v.want(15, ":")
		come(104, 105)
		v.want(15, countEvent("105", `{"count":105,"bucket":"100+","display":"100+","approx":false}`))
	})
}

// A reader that comes back with the id of what is still true is told nothing; any
// other id, its own of earlier included, gets the current value.
func TestStreamResumes(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.beat("a", "s")
		const one = `{"count":1,"bucket":"1-10","display":"1","approx":false}`
		v := s.open(streamPath("a"), "1")
		v.want(15, ":")
		for _, id := range []string{"0", "x", "1~", "1, 1"} {
			v := s.open(streamPath("a"), id)
			v.want(0, countEvent("1", one))
		}

		grid := gridStreamPath + "?ids=a,b"
		v = s.open(grid, "")
		v.next()
		id := strings.TrimPrefix(strings.SplitN(v.next(), "\n", 2)[0], "id: ")
		v = s.open(grid, id)
		v.want(15, ":")
		s.beat("b", "s")
		v = s.open(grid, id)
		for _, page := range []string{"a", "b"} {
			if got, want := v.next(), `{"page_id":"`+page+`",`+one[1:]; !strings.HasSuffix(got, want) {
				t.Errorf("after a change got %q, want %s", got, want)
			}
		}
	})
}

// A reader that stops reading is dropped, and nobody waits for it: neither the
// other readers, nor beats, nor a drain.
func TestStalledPageReaderHoldsNobodyBack(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.open(streamPath("p"), "") // reads no further than its retry
		v := s.open(streamPath("p"), "")
		v.want(0, countEvent("0", `{"count":0,"bucket":"0","display":"0","approx":false}`))
		s.beat("p", "a")
		v.want(1, countEvent("1", `{"count":1,"bucket":"1-10","display":"1","approx":false}`))
		v.want(15, ":")
		if got := s.readers.count(); got != 1 {
			t.Errorf("%d readers are open, want the one that reads", got)
		}
	})
}

// A drain tells every reader when to come back, spread over 5 to 30 s, and has
// closed all streams within 2 s, a stalled one too.
func TestDrainClosesPageStreams(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		var viewers []*viewer
		for range 20 {
			v := s.open(streamPath("p"), "")
			v.next()
			viewers = append(viewers, v)
		}
		s.open(gridStreamPath+"?ids=p,q", "") // and reads no more
		s.BeginDrain()
		waits := map[string]bool{}
		for _, v := range viewers {
			block := v.next()
			var ms int
			if _, err := fmt.Sscanf(block, "retry: %d", &ms); err != nil || ms < 5_000 || ms >= 30_000 {
				t.Errorf("got %q, want a retry of 5 to 30 s", block)
			}
			waits[block] = true
			if rest := v.next(); rest != "" {
				t.Errorf("the stream goes on with %q", rest)
			}
		}
		if len(waits) < 15 {
			t.Errorf("20 readers come back at %d times", len(waits))
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := s.readers.count(); got != 0 {
			t.Errorf("%d readers are open after 2 s", got)
		}
	})
}

// follow opens an event stream on a real connection.
func (w *world) follow(t *testing.T, path string) *listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", w.public.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &listener{t, res, bufio.NewScanner(res.Body)}
}

// The headers keep every cache and compressor off the stream; HEAD has them too.
func TestPageStreamHeaders(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{streamPath("p"), gridStreamPath + "?ids=p"} {
		for _, method := range []string{"GET", "HEAD"} {
			r, err := http.NewRequestWithContext(t.Context(), method, w.public.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := w.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{
				"Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform",
				"X-Accel-Buffering": "no", "Access-Control-Allow-Origin": "*",
			} {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s %s: got %s: %q, want %q", method, path, name, got, want)
				}
			}
			if method == "HEAD" {
				if body, err := io.ReadAll(res.Body); err != nil || len(body) > 0 {
					t.Errorf("HEAD %s: got %q, %v", path, body, err)
				}
			}
			_ = res.Body.Close()
		}
	}
}

// What is too old to be told is told as such in an event, too.
func TestDegradedStream(t *testing.T) {
	w := newWorld(t, crowdOn(t, "p", 20, false))
	for path, want := range map[string]string{
		streamPath("p"):             countEvent("popular", `{"count":null,"bucket":"popular","display":"Popular today","degraded":true}`),
		streamPath("q"):             countEvent("quiet", `{"count":null,"bucket":"quiet","display":"","degraded":true}`),
		gridStreamPath + "?ids=p,q": `data: {"page_id":"p","count":null,"bucket":"popular","display":"Popular today","degraded":true}`,
	} {
		l := w.follow(t, path)
		l.next() // retry
		if got := l.next(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// What cannot be streamed is refused as JSON, before a place is taken.
func TestPageStreamRefusals(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxReaders = 1 })
	for _, tt := range []struct{ path, code, field string }{
		{streamPath("\x00"), "invalid_field", "page_id"},
		{streamPath(strings.Repeat("p", 257)), "invalid_field", "page_id"},
		{gridStreamPath, "missing_field", "ids"},
		{gridStreamPath + "?ids=a,,b", "invalid_field", "ids"},
		{gridStreamPath + "?ids=" + numbers(101), "invalid_field", "ids"},
	} {
		r := w.call("GET", tt.path, "")
		if r.status != http.StatusBadRequest || r.code() != tt.code || r.json(t)["field"] != tt.field {
			t.Errorf("%.60s: got %d %s", tt.path, r.status, r.body)
		}
	}
	if got := w.srv.readers.count(); got != 0 {
		t.Errorf("%d places are taken", got)
	}
	first := w.follow(t, streamPath("p"))
	first.next()
	for _, path := range []string{streamPath("p"), gridStreamPath + "?ids=p"} {
		if r := w.call("GET", path, ""); r.status != http.StatusServiceUnavailable || r.code() != "unavailable" || r.header.Get("Retry-After") == "" {
			t.Errorf("over the cap, %s: got %d %s", path, r.status, r.body)
		}
	}
}

// An address may be given a cap of its own, and is known by its trusted proxy.
func TestPageReadersPerAddress(t *testing.T) {
	s := newServer(t, t.Output(), func(c *Config) { c.MaxReadersPerAddress = 1 })
	if fault := s.readers.enter(proxies(nil).client(httptest.NewRequest("GET", "/", nil))); fault != nil {
		t.Fatal(fault)
	}
	for addr, want := range map[string]int{"192.0.2.1:1": 503, "192.0.2.2:1": 200} {
		r := httptest.NewRequest("HEAD", streamPath("p"), nil)
		r.RemoteAddr = addr // that of httptest.NewRequest is 192.0.2.1
		rec := httptest.NewRecorder()
		s.Public().ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("%s: got %d, want %d", addr, rec.Code, want)
		}
	}
}

// Following a page that nobody is on keeps nothing but the reader, who is counted
// by kind while it is there.
func TestReadersAreCounted(t *testing.T) {
	w := newWorld(t)
	w.follow(t, streamPath("p")).next()
	w.follow(t, gridStreamPath+"?ids=p,q").next()
	metrics := w.ask("GET", "/metrics", "").body
	for _, kind := range []string{"page", "grid"} {
		if line := fmt.Sprintf("headcount_http_event_readers{kind=%q} 1\n", kind); !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if got := w.srv.crowd.Stats(); got.Pages != 0 || got.Readers != 2 {
		t.Errorf("got %+v", got)
	}
}
