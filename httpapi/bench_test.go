package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// sink is a ResponseWriter that keeps nothing, so that a benchmark sees what the
// handler costs and no more.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(status int)      { s.status = status }

// replayed is a request whose body can be read again and again.
type replayed struct {
	*http.Request
	body *bytes.Reader
}

func replay(method, target, body string) *replayed {
	r := httptest.NewRequest(method, target, nil)
	b := bytes.NewReader([]byte(body))
	r.Body, r.ContentLength = io.NopCloser(b), int64(len(body))
	r.Header.Set("Content-Type", "application/json")
	return &replayed{r, b}
}

// serve sends the request to h once and fails the benchmark unless it gets the
// status.
func (r *replayed) serve(b *testing.B, h http.Handler, w *sink, status int) {
	b.Helper()
	_, _ = r.body.Seek(0, io.SeekStart)
	w.status = http.StatusOK
	clear(w.header)
	h.ServeHTTP(w, r.Request)
	if w.status != status {
		b.Fatalf("got %d, want %d", w.status, status)
	}
}

func benchmark(b *testing.B, h http.Handler, r *replayed, status int) {
	b.Helper()
	w := &sink{header: http.Header{}}
	r.serve(b, h, w, status)
	b.ReportAllocs()
	for b.Loop() {
		r.serve(b, h, w, status)
	}
}

// benchStream plays one stream and returns its id.
func benchStream(b *testing.B, s *Server) string {
	b.Helper()
	rec := httptest.NewRecorder()
	s.Public().ServeHTTP(rec, replay("POST", "/v1/streams", `{"account_id":"1234567890","device_id":"tv"}`).Request)
	return reply{body: rec.Body.String()}.json(b)["stream_id"].(string)
}

func BenchmarkHeartbeat(b *testing.B) {
	s := newServer(b, io.Discard)
	stream := benchStream(b, s)
	benchmark(b, s.Public(), replay("PUT", "/v1/streams/"+stream+"/heartbeat", `{"account_id":"1234567890"}`), 200)
}

// A play-start of a device that has a stream already, which takes it over: the
// costliest admission.
func BenchmarkPlay(b *testing.B) {
	s := newServer(b, io.Discard)
	benchmark(b, s.Public(), replay("POST", "/v1/streams",
		`{"account_id":"1234567890","device_id":"0123456789abcdef0123456789abcdef","device_meta":{"name":"Living room"},"profile_id":"profile1","title_id":"title1234567"}`), 200)
}

func BenchmarkDenial(b *testing.B) {
	s := newServer(b, io.Discard)
	benchStream(b, s)
	h := s.Public()
	h.ServeHTTP(httptest.NewRecorder(), replay("POST", "/v1/streams", `{"account_id":"1234567890","device_id":"phone"}`).Request)
	benchmark(b, h, replay("POST", "/v1/streams", `{"account_id":"1234567890","device_id":"tablet"}`), 409)
}

func BenchmarkNotFound(b *testing.B) {
	s := newServer(b, io.Discard)
	benchmark(b, s.Public(), replay("GET", "/nope", ""), 404)
}

// BenchmarkBare is the floor under the others: a handler that reads the body and
// writes an answer of the same size.
func BenchmarkBare(b *testing.B) {
	answer := []byte(`{"ok":true,"lease_ttl_sec":90,"heartbeat_interval_sec":30}`)
	jsonType := []string{"application/json"}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.Header()["Content-Type"] = jsonType
		_, _ = w.Write(answer)
	})
	benchmark(b, h, replay("PUT", "/v1/streams/x/heartbeat", `{"account_id":"1234567890"}`), 200)
}

// BenchmarkRouter is what finding a route costs of that.
func BenchmarkRouter(b *testing.B) {
	s := newServer(b, io.Discard)
	r := replay("PUT", "/v1/streams/0123456789012345678901234567890123456789/heartbeat", "")
	x := &exchange{header: r.Header, reply: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		if s.public.match(r.Request, x) == nil {
			b.Fatal("no route")
		}
	}
}
