package httpapi

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount"
)

// listener is an open reader of server-sent events.
type listener struct {
	t       *testing.T
	res     *http.Response
	scanner *bufio.Scanner
}

// events opens the events of a stream. It fails the test unless the answer is an
// event stream.
func (w *world) events(t *testing.T, account, stream string) *listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.public.URL+"/v1/streams/"+stream+"/events?account_id="+account, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("got %d", res.StatusCode)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("got %s: %q, want %q", name, got, want)
		}
	}
	return &listener{t, res, bufio.NewScanner(res.Body)}
}

// next returns the lines up to the next empty one, or what there is at the end.
func (l *listener) next() string {
	l.t.Helper()
	var block []string
	for l.scanner.Scan() && l.scanner.Text() != "" {
		block = append(block, l.scanner.Text())
	}
	return strings.Join(block, "\n")
}

// retry reads the block that tells how long to wait before a reconnect.
func (l *listener) retry(least, most time.Duration) {
	l.t.Helper()
	block := l.next()
	ms, err := strconv.Atoi(strings.TrimPrefix(block, "retry: "))
	if d := time.Duration(ms) * time.Millisecond; err != nil || d < least || d > most {
		l.t.Errorf("got %q, want a retry of %v to %v", block, least, most)
	}
}

// A reader hears at once that its stream was kicked or replaced, and by whom;
// then its stream of events ends.
func TestEventsTellOfTheEnd(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		end  func(stream string)
		want string
	}{
		"kicked": {
			func(stream string) { w.call("POST", "/v1/accounts/a/streams/"+stream+"/force-stop", "") },
			"id: end\nevent: stopped\ndata: {\"reason\":\"force_stopped\"}",
		},
		"replaced": {
			func(string) {
				w.call("POST", "/v1/streams", "{\"account_id\":\"a\",\"device_id\":\"tv\",\"device_meta\":{\r\n\"name\":\n\"TV\"}}")
			},
			"id: end\nevent: stopped\ndata: {\"reason\":\"replaced\",\"by\":{\ndata: \"name\":\ndata: \"TV\"}}",
		},
		"released": {
			func(stream string) { w.call("DELETE", "/v1/streams/"+stream+"?account_id=a", "") },
			"id: end\nevent: expired\ndata: {\"reason\":\"expired\"}",
		},
	} {
		stream := w.play("a", "tv")
		reader := w.events(t, "a", stream)
		reader.retry(time.Second, 5*time.Second)
		tt.end(stream)
		if got := reader.next(); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if rest, err := io.ReadAll(reader.res.Body); err != nil || len(rest) > 0 {
			t.Errorf("%s: the stream goes on with %q, %v", name, rest, err)
		}
		w.call("POST", "/v1/accounts/a/force-stop", "")
	}
}

// A stream that was stopped before the reader came says so at once.
func TestEventsOfAStoppedStream(t *testing.T) {
	w := newWorld(t)
	stream := w.play("a", "tv")
	w.call("POST", "/v1/accounts/a/force-stop", "")
	reader := w.events(t, "a", stream)
	reader.next() // retry
	if got, want := reader.next(), "id: end\nevent: stopped\ndata: {\"reason\":\"force_stopped\"}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Unknown streams are gone; a reader that had the end already is told to stop
// asking; the account is needed.
func TestEventsThatAreNone(t *testing.T) {
	w := newWorld(t)
	stream := w.play("a", "tv")
	for name, tt := range map[string]struct {
		path   string
		lastID string
		status int
		code   string
	}{
		"unknown":           {"/v1/streams/x/events?account_id=a", "", 410, "lease_expired"},
		"another account's": {"/v1/streams/" + stream + "/events?account_id=b", "", 410, "lease_expired"},
		"no account":        {"/v1/streams/" + stream + "/events", "", 400, "missing_field"},
		"an empty account":  {"/v1/streams/" + stream + "/events?account_id=", "", 400, "invalid_field"},
		"after the end":     {"/v1/streams/" + stream + "/events?account_id=a", endID, 204, ""},
	} {
		r := w.call("GET", tt.path, "", "Last-Event-ID", tt.lastID)
		if r.status != tt.status || r.code() != tt.code {
			t.Errorf("%s: got %d %s", name, r.status, r.body)
		}
	}
}

// A silent stream is kept alive by a comment every 15 s; a lapse ends it.
func TestEventsKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{readers: newReaders(1, 0, nil)}
		rec := httptest.NewRecorder()
		ended := make(chan headcount.Ended, 1)
		e := openEvents(rec, &exchange{reply: rec.Header()}, 3*time.Second)
		go func() {
			time.Sleep(40 * time.Second)
			ended <- headcount.Ended{Reason: headcount.ReasonExpired}
		}()
		start := time.Now()
		s.follow(e, ended)
		want := "retry: 3000\n\n:\n\n:\n\nid: end\nevent: expired\ndata: {\"reason\":\"expired\"}\n\n"
		if got := rec.Body.String(); got != want || time.Since(start) != 40*time.Second {
			t.Errorf("after %v got %q, want %q", time.Since(start), got, want)
		}
	})
}

// Neither the read nor the write timeout of the server cuts an event stream.
func TestEventsOutliveTimeouts(t *testing.T) {
	s := newServer(t, t.Output())
	hs := s.PublicServer()
	hs.ReadHeaderTimeout, hs.ReadTimeout, hs.WriteTimeout = 30*time.Millisecond, 30*time.Millisecond, 30*time.Millisecond
	w := &world{t: t, srv: s, public: listen(t, hs), client: http.DefaultClient}
	stream := w.play("a", "tv")
	reader := w.events(t, "a", stream)
	reader.next() // retry
	// The server's own timer for the longer of the two has fired when a second
	// connection, idle since later, is closed by it.
	probe := w.dial()
	if _, err := probe.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n")); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(probe)
	w.call("POST", "/v1/accounts/a/force-stop", "")
	if got := reader.next(); !strings.Contains(got, "event: stopped") {
		t.Errorf("got %q, want the end of the stream", got)
	}
}

// While a node drains it is not ready, tells its readers to come back at spread
// times, ends their streams and lets in no new one. Requests are still answered.
func TestDrain(t *testing.T) {
	w := newWorld(t)
	stream := w.play("a", "tv")
	reader := w.events(t, "a", stream)
	reader.next() // retry
	if r := w.call("GET", "/readyz", ""); r.status != http.StatusOK {
		t.Errorf("before: got %d", r.status)
	}
	w.srv.BeginDrain()
	reader.retry(5*time.Second, 30*time.Second)
	if rest, err := io.ReadAll(reader.res.Body); err != nil || len(rest) > 0 {
		t.Errorf("the stream goes on with %q, %v", rest, err)
	}
	if r := w.call("GET", "/readyz", ""); r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
		t.Errorf("readyz: got %d", r.status)
	}
	if r := w.call("GET", "/v1/streams/"+stream+"/events?account_id=a", ""); r.status != http.StatusServiceUnavailable {
		t.Errorf("a new reader: got %d", r.status)
	}
	if r := w.call("GET", "/healthz", ""); r.status != http.StatusOK {
		t.Errorf("healthz: got %d", r.status)
	}
	if r := w.beat("a", stream); r.status != http.StatusOK {
		t.Errorf("heartbeat: got %d", r.status)
	}
}

// Over the cap of the process or of an address, a reader is sent away for a
// while; one that leaves makes room.
func TestReaderCaps(t *testing.T) {
	r := newReaders(3, 2, func(least, _ time.Duration) time.Duration { return least })
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	neighbour := netip.MustParseAddr("2001:db8::2") // of b's /64
	for i, step := range []struct {
		leave bool
		from  netip.Addr
		ok    bool
	}{
		{from: a, ok: true},
		{from: a, ok: true},
		{from: a, ok: false}, // its third
		{from: b, ok: true},
		{from: b, ok: false}, // the process's fourth
		{leave: true, from: a},
		{from: neighbour, ok: true},
		{leave: true, from: a},
		{from: b, ok: false}, // the third of its /64
		{from: a, ok: true},
	} {
		if step.leave {
			r.leave(step.from)
			continue
		}
		err := r.enter(step.from)
		if (err == nil) != step.ok {
			t.Errorf("step %d: got %v, want admitted %v", i, err, step.ok)
		}
		if err != nil && (err.Code != headcount.CodeUnavailable || err.RetryAfter != 5*time.Second) {
			t.Errorf("step %d: got %+v", i, err)
		}
	}
}

// A reader that goes gives its place back.
func TestReaderThatLeavesMakesRoom(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxReaders = 1 })
	stream := w.play("a", "tv")
	first := w.events(t, "a", stream)
	first.next()
	if r := w.call("GET", "/v1/streams/"+stream+"/events?account_id=a", ""); r.status != http.StatusServiceUnavailable {
		t.Fatalf("a second reader: got %d, want 503", r.status)
	}
	_ = first.res.Body.Close()
	for w.srv.readers.count() > 0 { // until the server has seen the connection close
		select {
		case <-t.Context().Done():
			t.Fatal("the place was not given back")
		case <-time.After(time.Millisecond):
		}
	}
	w.events(t, "a", stream)
}

// The address of a client is the peer's, unless a trusted proxy says otherwise;
// what a client claims about itself counts for nothing.
func TestClientAddress(t *testing.T) {
	trusted := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tt := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:4711", nil, "192.0.2.1"},
		{"192.0.2.1:4711", []string{"203.0.113.9"}, "192.0.2.1"},
		{"10.0.0.1:4711", nil, "10.0.0.1"},
		{"10.0.0.1:4711", []string{"203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:4711", []string{"6.6.6.6, 203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:4711", []string{"6.6.6.6", "203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		{"10.0.0.1:4711", []string{"rubbish, 10.0.0.2"}, "10.0.0.2"},
		{"[fd00::1]:4711", []string{"[2001:db8::1]:443"}, "2001:db8::1"},
		{"[::ffff:10.0.0.1]:4711", []string{"203.0.113.9"}, "203.0.113.9"},
		{"@", nil, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := trusted.client(r).String(); got != tt.want {
			t.Errorf("%s, %q: got %s, want %s", tt.peer, tt.forwarded, got, tt.want)
		}
	}
}
