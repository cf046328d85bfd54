package httpapi

import (
	"io"
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
