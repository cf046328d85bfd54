package httpapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// brokenMux returns a mux whose routes have bugs.
func brokenMux(log io.Writer) (*mux, *metrics) {
	m := newMetrics(prometheus.NewRegistry())
	faults := newFaultLog(slog.New(slog.NewTextHandler(log, nil)), time.Minute, m.panics)
	return newMux([]route{
		{methods: "GET", pattern: "/panic", call: func(context.Context, *exchange) { panic("a bug") }},
		{methods: "GET", pattern: "/half", stream: func(w http.ResponseWriter, _ *http.Request, x *exchange) {
			x.sent = true
			_, _ = w.Write([]byte("half of an ans"))
			panic("a bug")
		}},
	}, m, faults, nil, http.StatusConflict), m
}

// A bug costs one request its answer, which is a 503 like any other; it is logged
// once a minute and counted always.
func TestPanicsAreAnswered(t *testing.T) {
	var log bytes.Buffer
	broken, m := brokenMux(&log)
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			rec := httptest.NewRecorder()
			broken.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/panic", nil))
			if r := (reply{rec.Code, rec.Header(), rec.Body.String()}); r.status != http.StatusServiceUnavailable || r.code() != "unavailable" || r.header.Get("Retry-After") != "1" {
				t.Errorf("got %d %s", r.status, r.body)
			}
		}
		time.Sleep(time.Minute)
		broken.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/panic", nil))
	})
	if got := strings.Count(log.String(), "msg=panic"); got != 2 {
		t.Errorf("got %d lines, want 2: %s", got, log.String())
	}
	if !strings.Contains(log.String(), "suppressed=2") || !strings.Contains(log.String(), "faults_test.go") {
		t.Errorf("the log hides how often, or where: %s", log.String())
	}
	if got := testutil.ToFloat64(m.panics); got != 4 {
		t.Errorf("got %v panics counted, want 4", got)
	}
}

// Half an answer cannot be taken back: the connection is cut, so that the client
// does not take it for whole.
func TestPanicInTheMiddleOfAnAnswer(t *testing.T) {
	broken, _ := brokenMux(io.Discard)
	ts := httptest.NewServer(broken)
	defer ts.Close()
	res, err := http.Get(ts.URL + "/half")
	if err == nil {
		defer res.Body.Close()
		_, err = io.ReadAll(res.Body)
	}
	if err == nil {
		t.Error("half an answer passed for a whole one")
	}
}

// However many bad requests come, one line a minute tells of each kind on each
// route, and none of everyday answers.
func TestBadInputIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, &log)
	for _, request := range []struct{ method, path, body string }{
		{"POST", "/v1/streams", `{`},
		{"POST", "/v1/streams", `{}`},
		{"PUT", "/v1/streams/x/heartbeat", `{}`},
		{"PUT", "/v1/streams/x/heartbeat", `{"account_id":"a"}`},
		{"GET", "/nope", ""},
		{"GET", "/v1/streams", ""},
	} {
		for range 10 {
			s.Public().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(request.method, request.path, strings.NewReader(request.body)))
		}
	}
	if got := strings.Count(log.String(), "msg=\"bad request\""); got != 3 {
		t.Errorf("got %d lines, want 3:\n%s", got, log.String())
	}
	if got := strings.Count(log.String(), "\n"); got != 3 {
		t.Errorf("got %d lines in all, want 3:\n%s", got, log.String())
	}
}

// The access log is off unless asked for, and names routes instead of ids.
func TestAccessLog(t *testing.T) {
	for _, on := range []bool{false, true} {
		var log bytes.Buffer
		s := newServer(t, &log, func(c *Config) { c.AccessLog = on })
		s.Public().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/accounts/secret/streams", nil))
		want := "msg=request method=GET route=/v1/accounts/{account_id}/streams status=200 bytes=23 took="
		if got := strings.Contains(log.String(), want); got != on {
			t.Errorf("access log %v: got %q", on, log.String())
		}
		if strings.Contains(log.String(), "secret") {
			t.Errorf("the log names an account: %s", log.String())
		}
	}
}

// Requests are counted by route and class of status, and nothing that a client
// chose becomes a label.
func TestMetrics(t *testing.T) {
	w := newWorld(t)
	w.play("secret-account", "secret-device")
	w.call("POST", "/v1/streams", `{`)
	w.call("GET", "/secret-path", "")
	page := w.ask("GET", "/metrics", "")
	for _, want := range []string{
		`headcount_http_requests_total{route="POST /v1/streams",status="2xx"} 1`,
		`headcount_http_requests_total{route="POST /v1/streams",status="4xx"} 1`,
		`headcount_http_requests_total{route="unmatched",status="4xx"} 1`,
		`headcount_http_event_readers{kind="stream"} 0`,
	} {
		if !strings.Contains(page.body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page.body, "secret") {
		t.Error("something that a client chose is in the metrics")
	}
}
