package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Every kind of request gets its own recorded answer, status, headers and body,
// with the length that net/http finds by itself.
func TestAnswersByKind(t *testing.T) {
	answers := map[string]*answer{}
	for _, kind := range []string{"play", "renew", "stop", "beat", "count"} {
		answers[kind] = &answer{Status: 200, Header: http.Header{"X-Kind": {kind}}, body: []byte("{" + kind + "}")}
	}
	answers["beat"] = &answer{Status: 204, Header: http.Header{"X-Kind": {"beat"}}}
	server := httptest.NewServer(newHandler(answers))
	defer server.Close()
	for _, tt := range []struct{ method, path, kind string }{
		{"POST", "/v1/streams", "play"},
		{"PUT", "/v1/streams/abc/heartbeat", "renew"},
		{"DELETE", "/v1/streams/abc", "stop"},
		{"POST", "/api/v1/presence/heartbeat", "beat"},
		{"GET", "/api/v1/pages/p/viewer-count", "count"},
	} {
		req, err := http.NewRequest(tt.method, server.URL+tt.path, strings.NewReader(strings.Repeat("long body ", 200)))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		want := answers[tt.kind]
		if resp.StatusCode != want.Status || resp.Header.Get("X-Kind") != tt.kind || string(body) != string(want.body) {
			t.Errorf("%s %s: got %d %q %q, want %d %q %q", tt.method, tt.path,
				resp.StatusCode, resp.Header.Get("X-Kind"), body, want.Status, tt.kind, want.body)
		}
		if resp.ContentLength != int64(len(want.body)) {
			t.Errorf("%s %s: Content-Length %d, want %d", tt.method, tt.path, resp.ContentLength, len(want.body))
		}
	}
}
