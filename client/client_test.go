package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/client"
)

// replay is a server that gives one answer and remembers what it was asked.
type replay struct {
	*httptest.Server
	method, path, body, token string
}

func newReplay(t *testing.T, status int, header, answer string) *replay {
	t.Helper()
	r := &replay{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.method, r.path, r.body, r.token = req.Method, req.URL.EscapedPath(), string(body), req.Header.Get("Authorization")
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *replay) client(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(r.URL+"/", client.WithHTTPClient(r.Client()), client.WithToken("a.b.c"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every error of the contract comes back as the error that the server made, with
// the facts it had.
func TestErrorsComeBackWhole(t *testing.T) {
	for _, tt := range []struct {
		name           string
		status         int
		header, answer string
		want           headcount.Error
	}{
		{"field", 400, "", `{"error":"missing_field","message":"account_id is required","field":"account_id"}`,
			headcount.Error{Code: headcount.CodeMissingField, Message: "account_id is required", Field: "account_id"}},
		{"denied under another status", 403, "", `{"error":"concurrent_stream_limit","message":"full","limit":1,"degraded":true,"active":[
			{"stream_id":"abc","device_meta":{"name": "tv"},"profile_id":"kids","title_id":null,"started_at":"2026-03-01T20:15:00.250Z","last_seen":"2026-03-01T20:16:00.000Z","lapses_in_sec":42}]}`,
			headcount.Error{Code: headcount.CodeStreamLimit, Message: "full", Denied: &headcount.Denied{Limit: 1, Degraded: true, Active: []headcount.Lease{{
				StreamID: "abc", DeviceMeta: json.RawMessage(`{"name": "tv"}`), ProfileID: new("kids"),
				StartedAt:   headcount.At(time.Date(2026, 3, 1, 20, 15, 0, 250e6, time.UTC)),
				LastSeen:    headcount.At(time.Date(2026, 3, 1, 20, 16, 0, 0, time.UTC)),
				LapsesInSec: 42,
			}}}}},
		{"stopped", 410, "", `{"error":"stream_stopped","message":"stop","action":"stop","reason":"replaced","stopped_at":"2026-03-01T20:15:00.000Z","by":"phone"}`,
			headcount.Error{Code: headcount.CodeStreamStopped, Message: "stop", Ended: &headcount.Ended{
				Reason: headcount.ReasonReplaced, StoppedAt: headcount.At(time.Date(2026, 3, 1, 20, 15, 0, 0, time.UTC)), By: json.RawMessage(`"phone"`),
			}}},
		{"expired", 410, "", `{"error":"lease_expired","message":"again","action":"re_acquire"}`,
			headcount.Error{Code: headcount.CodeLeaseExpired, Message: "again"}},
		{"retry later", 503, "Retry-After: 3", `{"error":"unavailable","message":"later"}`,
			headcount.Error{Code: headcount.CodeUnavailable, Message: "later", RetryAfter: 3 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReplay(t, tt.status, tt.header, tt.answer)
			_, err := r.client(t).Heartbeat(t.Context(), "abc", client.HeartbeatRequest{AccountID: "alice"})
			var got *headcount.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a headcount.Error", err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// What is not an answer of headcount is said to be so, and is never taken for one.
func TestStrangersAnswer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		answer string
	}{
		{"a proxy's page", 502, "<html>Bad Gateway</html>"},
		{"JSON of somebody else", 404, `{"detail":"Not Found"}`},
		{"success of somebody else", 200, "<html>Welcome!</html>"},
		{"nothing", 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReplay(t, tt.status, "", tt.answer)
			_, err := r.client(t).Streams(t.Context(), "alice")
			if headcount.ErrorCode(err) != headcount.CodeUnavailable || !strings.Contains(err.Error(), r.URL) {
				t.Errorf("got %v, want unavailable and the address", err)
			}
		})
	}
}

// A server that is not there, or not in time, is an error that names the address
// and keeps the cause.
func TestServerDoesNotAnswer(t *testing.T) {
	r := newReplay(t, 200, "", "{}")
	c := r.client(t)
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Streams(late, "alice"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's end as the cause", err)
	}
	r.Close()
	_, err := c.Streams(t.Context(), "alice")
	if headcount.ErrorCode(err) != headcount.CodeUnavailable || !strings.Contains(err.Error(), r.URL) {
		t.Errorf("got %v, want unavailable and the address", err)
	}
}

// Ids are bytes of one path segment, whatever they hold.
func TestOddIDsInPaths(t *testing.T) {
	r := newReplay(t, 200, "", `{"ok":true}`)
	for id, want := range map[string]string{
		"a/b": "a%2Fb", "..": "%2E%2E", ".": "%2E", "50%": "50%25", "é😀 ?#": "%C3%A9%F0%9F%98%80%20%3F%23", "{x}:y": "%7Bx%7D:y", "...": "...",
	} {
		if err := r.client(t).ForceStop(t.Context(), id, "abc"); err != nil {
			t.Fatal(err)
		}
		if want = "/v1/accounts/" + want + "/streams/abc/force-stop"; r.path != want {
			t.Errorf("%q: asked for %s, want %s", id, r.path, want)
		}
	}
	if r.token != "Bearer a.b.c" || r.body != "" {
		t.Errorf("sent the token %q and the body %q", r.token, r.body)
	}
}

// Metadata travels as it is written, and what is not JSON is refused before it
// is sent.
func TestDeviceMeta(t *testing.T) {
	r := newReplay(t, 200, "", `{"ok":true,"lease_ttl_sec":1.5,"heartbeat_interval_sec":30}`)
	beat, err := r.client(t).Heartbeat(t.Context(), "abc", client.HeartbeatRequest{AccountID: "a", DeviceMeta: json.RawMessage(`"<b>&"`)})
	if err != nil {
		t.Fatal(err)
	}
	if want := (client.Beat{LeaseTTL: 1500 * time.Millisecond, HeartbeatInterval: 30 * time.Second}); beat != want {
		t.Errorf("got %+v, want %+v", beat, want)
	}
	if want := `{"account_id":"a","device_meta":"<b>&"}` + "\n"; r.body != want {
		t.Errorf("sent %s, want %s", r.body, want)
	}
	_, err = r.client(t).Play(t.Context(), client.PlayRequest{AccountID: "a", DeviceID: "d", DeviceMeta: json.RawMessage(`{tv}`)})
	var e *headcount.Error
	if !errors.As(err, &e) || e.Code != headcount.CodeInvalidField || e.Field != "device_meta" {
		t.Errorf("got %v, want invalid_field that names device_meta", err)
	}
}

// An address that cannot be one of a server is told at once.
func TestBadAddress(t *testing.T) {
	for _, address := range []string{"", "localhost:8080", "ftp://x", "http://", "http://x?y=1", "http://x/#f", "http://a b"} {
		if _, err := client.New(address); err == nil {
			t.Errorf("%q was taken for an address", address)
		}
	}
}
