package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headcount-live/headcount"
)

// knownCodes are all codes that an error answer may have.
var knownCodes = []headcount.Code{
	headcount.CodeInvalidJSON, headcount.CodeMissingField, headcount.CodeInvalidField, headcount.CodeUnauthorized,
	headcount.CodeForbidden, headcount.CodeAccountMismatch, headcount.CodeSubscriptionInactive, headcount.CodeNotFound,
	headcount.CodeStreamNotFound, headcount.CodeMethodNotAllowed, headcount.CodeStreamLimit, headcount.CodeLeaseExpired,
	headcount.CodeStreamStopped, headcount.CodeBodyTooLarge, headcount.CodeUnsupportedMediaType, headcount.CodeRateLimited,
	headcount.CodeUnavailable,
}

// FuzzPublic sends whatever net/http lets through. No request gets anything but a
// success, a redirect-free refusal with a known code and a message, or a 503.
func FuzzPublic(f *testing.F) {
	for _, seed := range [][5]string{
		{"POST", "/v1/streams", "application/json", "", `{"account_id":"a","device_id":"d","device_meta":{"x":1}}`},
		{"PUT", "/v1/streams/x/heartbeat", "text/plain", "https://a.example", `{"account_id":1}`},
		{"POST", "/v1/streams/heartbeat:batch", "", "", `{"heartbeats":[{"account_id":"a","stream_id":"x"},3,{"stream_id":"\ud83d\ude00"}]}`},
		{"DELETE", "/v1/streams/x?account_id=%61", "", "", ""},
		{"GET", "/v1/streams/x/events?account_id=a", "", "end", ""},
		{"GET", "/v1/accounts/%2E%2E/streams", "", "", ""},
		{"POST", "/v1/accounts/a/streams/%FF/force-stop", "", "", ""},
		{"OPTIONS", "/v1/streams", "", "https://a.example", ""},
		{"HEAD", "/openapi.yaml", "", "", ""},
		{"GET", "//../%zz", "", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	s := newServer(f, io.Discard, func(c *Config) { c.CORSOrigins = []string{"https://a.example"} })
	s.BeginDrain() // event streams are refused instead of staying open
	f.Fuzz(func(t *testing.T, method, target, contentType, header, body string) {
		raw := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nOrigin: %s\r\nLast-Event-ID: %s\r\nIf-None-Match: %s\r\nContent-Length: %d\r\n\r\n%s",
			method, target, contentType, header, header, header, len(body), body)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			t.Skip("net/http answers this by itself")
		}
		rec := httptest.NewRecorder()
		s.Public().ServeHTTP(rec, r)
		checkAnswer(t, r, rec)
	})
}

func checkAnswer(t *testing.T, r *http.Request, rec *httptest.ResponseRecorder) {
	t.Helper()
	body := rec.Body.Bytes()
	isJSON := rec.Header().Get("Content-Type") == "application/json"
	switch {
	case isJSON && len(body) > 0 && !json.Valid(body):
		t.Fatalf("%s %s: %d with broken JSON %q", r.Method, r.URL, rec.Code, body)
	case rec.Code < 300, rec.Code == http.StatusNotModified:
		return
	case rec.Code < 400, rec.Code >= 500 && rec.Code != http.StatusServiceUnavailable:
		t.Fatalf("%s %s: %d %s", r.Method, r.URL, rec.Code, body)
	case rec.Code == http.StatusMethodNotAllowed && rec.Header().Get("Allow") == "":
		t.Fatalf("%s %s: 405 without Allow", r.Method, r.URL)
	case rec.Code == http.StatusServiceUnavailable && rec.Header().Get("Retry-After") == "":
		t.Fatalf("%s %s: 503 without Retry-After", r.Method, r.URL)
	case r.Method == http.MethodHead:
		return
	}
	var e struct {
		Error   headcount.Code
		Message string
	}
	if err := json.Unmarshal(body, &e); err != nil || e.Message == "" {
		t.Fatalf("%s %s: %d with body %q", r.Method, r.URL, rec.Code, body)
	}
	for _, code := range knownCodes {
		if e.Error == code && statusOf(code, http.StatusConflict) == rec.Code {
			return
		}
	}
	t.Fatalf("%s %s: %d with code %q", r.Method, r.URL, rec.Code, e.Error)
}
