package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/headcount-live/headcount/load"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// streams is a server of streams as plain as can be: it keeps who holds what and
// complains about every request that a player would not send.
type streams struct {
	t    *testing.T
	mu   sync.Mutex
	live map[string]string // account by stream id
	made int
	seen map[string]int // requests by kind
}

func newStreams(t *testing.T) (*streams, string) {
	s := &streams{t: t, live: map[string]string{}, seen: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

func (s *streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		Account string `json:"account_id"`
		Device  string `json:"device_id"`
		Page    string `json:"page_id"`
		Session string `json:"session_id"`
	}
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
	}
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v1/streams/"), "/heartbeat")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/streams":
		if len(body.Account) != 10 || len(body.Device) != 32 {
			s.t.Errorf("play-start of account %q and device %q", body.Account, body.Device)
		}
		s.seen["play"]++
		s.made++
		id := fmt.Sprintf("stream-%d", s.made)
		s.live[id] = body.Account
		fmt.Fprintf(w, `{"stream_id":%q,"lease_ttl_sec":90}`, id)
	case r.Method == http.MethodPut && s.live[id] == body.Account && body.Account != "":
		s.seen["renew"]++
	case r.Method == http.MethodDelete && s.live[id] == body.Account && body.Account != "":
		s.seen["stop"]++
		delete(s.live, id)
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/api/v1/presence/"):
		if len(body.Page) != 24 || len(body.Session) != 32 {
			s.t.Errorf("beat of page %q and session %q", body.Page, body.Session)
		}
		s.seen[strings.TrimPrefix(r.URL.Path, "/api/v1/presence/")]++
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		s.seen[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]++
		io.WriteString(w, strings.Repeat("long enough to be sent in chunks ", 1000))
	default:
		s.t.Errorf("%s %s for account %q: not live, or no such route", r.Method, r.URL, body.Account)
	}
}

// small is a run short enough for a test.
func small(t *testing.T, url, mix string) load.HTTPConfig {
	m, err := load.ParseMix(mix)
	if err != nil {
		t.Fatal(err)
	}
	return load.HTTPConfig{
		URL: url, Connections: 8, Duration: 200 * time.Millisecond, Mix: m,
		Accounts: 20, Sessions: 20, Pages: 5, Seed: 7, Timeout: 5 * time.Second,
	}
}

// Every kind reaches its route; renewals and stops are of live leases of the
// right account, whatever is in flight at the same time; what the report counts
// is what the server saw after the fill.
func TestRunHTTPMix(t *testing.T) {
	server, url := newStreams(t)
	report, err := load.RunHTTP(t.Context(), small(t, url, "play=3,renew=5,stop=3,list=1,beat=2,leave=1,count=2"))
	if err != nil {
		t.Fatal(err)
	}
	if report.Errors != 0 {
		t.Errorf("%d errors, want none: %+v", report.Errors, report.Kinds)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for kind, want := range map[string]int{
		"play": server.seen["play"] - 20, "renew": server.seen["renew"], "stop": server.seen["stop"],
		"list": server.seen["streams"], "beat": server.seen["heartbeat"] - 20, "leave": server.seen["leave"],
		"count": server.seen["viewer-count"],
	} {
		got := report.Kinds[kind]
		if got.Requests == 0 || got.Requests != int64(want) {
			t.Errorf("%s: %d requests reported, the server saw %d", kind, got.Requests, want)
		}
		if got.P50 <= 0 || got.P50 > got.P99 || got.P99 > got.Max {
			t.Errorf("%s: quantiles out of order: %+v", kind, got.Quantiles)
		}
	}
}

// Answers other than 2xx are counted by kind and status, and are no latencies.
func TestRunHTTPCountsStatuses(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusConflict)
			return
		}
		io.WriteString(w, `{"stream_id":"a"}`)
	}))
	defer server.Close()
	report, err := load.RunHTTP(t.Context(), small(t, server.URL, "play=1"))
	if err != nil {
		t.Fatal(err)
	}
	play := report.Kinds["play"]
	denied := play.Errors["409"]
	if len(play.Errors) != 1 || denied != report.Errors || denied < play.Requests/2-1 || denied > play.Requests/2+1 {
		t.Errorf("of %d answers %v were errors, want half, all of them 409", play.Requests, play.Errors)
	}
}

// A connection that the server closes in the middle is counted, replaced, and
// the run goes on; one closed by agreement after an answer is no error.
func TestRunHTTPReconnects(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		cause   string
	}{
		{"cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "closed"},
		{"half an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "half")
		}, "closed"},
		{"no stream_id", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"ok":true}`) }, "bad_answer"},
		{"asked to close", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			io.WriteString(w, `{"stream_id":"a"}`)
		}, ""},
	} {
		server := httptest.NewServer(tt.handler)
		report, err := load.RunHTTP(t.Context(), small(t, server.URL, "play=1"))
		server.Close()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		play := report.Kinds["play"]
		switch {
		case tt.cause == "" && (report.Errors != 0 || play.Requests < 2):
			t.Errorf("%s: %d answers and errors %v, want many answers and no error", tt.name, play.Requests, play.Errors)
		case tt.cause != "" && (play.Errors[tt.cause] < 2 || len(play.Errors) != 1):
			t.Errorf("%s: errors %v, want many of %s and nothing else", tt.name, play.Errors, tt.cause)
		}
	}
}

// A server that does not answer in time costs a timeout a request, not the run.
func TestRunHTTPTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // until then the server does not notice that the client is gone
		<-r.Context().Done()
	}))
	defer server.Close()
	c := small(t, server.URL, "count=1")
	c.Sessions, c.Timeout = c.Connections, 50*time.Millisecond
	report, err := load.RunHTTP(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Kinds["count"]; got.Requests != 0 || got.Errors["timeout"] == 0 {
		t.Errorf("got %+v, want timeouts and no answers", got)
	}
}

// In an open loop the latency of a request runs from the moment it was due: a
// server that stops for a while shows it in every request of that while, not
// only in those that were under way.
func TestRunHTTPOpenLoop(t *testing.T) {
	var pause sync.RWMutex
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/leave") {
			return // the fill
		}
		once.Do(func() {
			pause.Lock()
			time.AfterFunc(200*time.Millisecond, pause.Unlock)
		})
		pause.RLock()
		defer pause.RUnlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	c := small(t, server.URL, "leave=1")
	c.Connections, c.Sessions, c.Rate, c.Duration = 2, 2, 1000, 400*time.Millisecond
	report, err := load.RunHTTP(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	leave := report.Kinds["leave"]
	if sent := leave.Requests + report.Unsent; sent < 395 || sent > 400 {
		t.Errorf("%d requests were due, want 400", sent)
	}
	// Half of the 400 moments lie in the pause, and a tenth in its first 40 ms.
	if leave.P90 < 100_000 {
		t.Errorf("p90 is %v µs although the server stood still for half of the time", leave.P90)
	}
}

// A run that cannot begin says what to do, and one that is called off ends.
func TestRunHTTPEnds(t *testing.T) {
	c := small(t, "http://127.0.0.1:1", "renew=1")
	if _, err := load.RunHTTP(t.Context(), c); err == nil || !strings.Contains(err.Error(), "is the server running") {
		t.Errorf("nobody listens: got %v, want a question whether the server runs", err)
	}
	for _, url := range []string{"https://127.0.0.1", "127.0.0.1:8080", "http://", "http://%zz"} {
		c.URL = url
		if _, err := load.RunHTTP(t.Context(), c); err == nil || !strings.Contains(err.Error(), "URL") {
			t.Errorf("URL %q: got %v, want an error that names the URL", url, err)
		}
	}
	_, url := newStreams(t)
	c = small(t, url, "renew=1")
	c.Duration = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := load.RunHTTP(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("called off: got %v, want %v", err, context.DeadlineExceeded)
	}
}
