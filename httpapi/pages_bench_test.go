package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkPresenceBeat is a beat of a viewer who counts already.
func BenchmarkPresenceBeat(b *testing.B) {
	s := newServer(b, io.Discard)
	benchmark(b, s.Public(), replay("POST", "/api/v1/presence/heartbeat",
		`{"page_id":"hotel_8821_2026-12-24_27","session_id":"3f1c9a7e55d04c1b8f02c6aa"}`), 204)
}

// BenchmarkViewerCount reads a page with one viewer.
func BenchmarkViewerCount(b *testing.B) {
	s := newServer(b, io.Discard)
	s.Public().ServeHTTP(httptest.NewRecorder(), replay("POST", "/api/v1/presence/heartbeat", `{"page_id":"hotel_8821","session_id":"s"}`).Request)
	benchmark(b, s.Public(), replay("GET", "/api/v1/pages/hotel_8821/viewer-count", ""), 200)
}

// BenchmarkViewerCountBatch reads a grid of 25 cards.
func BenchmarkViewerCountBatch(b *testing.B) {
	s := newServer(b, io.Discard)
	benchmark(b, s.Public(), replay("GET", "/api/v1/pages/viewer-count:batch?ids=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y", ""), 200)
}

// A beat of a viewer who counts already and a read of a page allocate nothing on
// their way through the handler: a million of them leave the collector asleep.
func TestPageRoutesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	s := newServer(t, io.Discard)
	for name, r := range map[string]*replayed{
		"beat":  replay("POST", beatPath, presence("p", "s")),
		"leave": replay("POST", leavePath, presence("p", "stranger")),
		"count": replay("GET", "/api/v1/pages/p/viewer-count", ""),
		"304":   replay("GET", "/api/v1/pages/q/viewer-count", ""),
	} {
		if name == "304" {
			r.Header.Set("If-None-Match", `W/"0"`)
		}
		w := &sink{header: http.Header{}}
		if n := testing.AllocsPerRun(1000, func() {
			_, _ = r.body.Seek(0, io.SeekStart)
			s.Public().ServeHTTP(w, r.Request)
		}); n >= 0.5 { // a collection during the test may empty the pool
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
