package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// A row is put, read and deleted; a raise admits at once, and without a row the
// default plan holds again.
func TestPlanRoutes(t *testing.T) {
	w := newWorld(t)
	const path = "/admin/v1/accounts/a%2Fb/plan"
	if r := w.ask("GET", path, ""); r.status != http.StatusNotFound {
		t.Errorf("no row: got %d %s", r.status, r.body)
	}
	r := w.ask("PUT", path, `{"plan":"staff","max_streams":3,"status":"active"}`)
	matches(t, r.body, `{"account_id":"a/b","plan":"staff","max_streams":3,"status":"active","updated_at":<time>}`)
	if got := w.ask("GET", path, "").body; got != r.body {
		t.Errorf("got %s, want %s", got, r.body)
	}
	if r := w.call("GET", "/v1/accounts/a%2Fb/streams", ""); r.body != `{"limit":3,"active":[]}` {
		t.Errorf("got %s", r.body)
	}
	r = w.ask("PUT", path, `{"plan":"basic","max_streams":null}`)
	matches(t, r.body, `{"account_id":"a/b","plan":"basic","max_streams":null,"status":"active","updated_at":<time>}`)
	if r := w.ask("DELETE", path, ""); r.body != `{"ok":true,"deleted":true}` {
		t.Errorf("got %s", r.body)
	}
	if r := w.ask("DELETE", path, ""); r.body != `{"ok":true,"deleted":false}` {
		t.Errorf("got %s", r.body)
	}
	if r := w.call("GET", "/v1/accounts/a%2Fb/streams", ""); r.body != `{"limit":2,"active":[]}` {
		t.Errorf("got %s", r.body)
	}
}

// A row that cannot be is refused with the field at fault.
func TestBadPlans(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{`:                                  "invalid_json",
		`{}`:                                 "missing_field plan",
		`{"plan":""}`:                        "invalid_field plan",
		`{"plan":"staff"}`:                   "invalid_field plan",
		`{"plan":7}`:                         "invalid_field plan",
		`{"plan":"basic","max_streams":65}`:  "invalid_field max_streams",
		`{"plan":"basic","max_streams":-1}`:  "invalid_field max_streams",
		`{"plan":"basic","max_streams":1.0}`: "invalid_field max_streams",
		`{"plan":"basic","max_streams":"1"}`: "invalid_field max_streams",
		`{"plan":"basic","status":"gone"}`:   "invalid_field status",
		`{"plan":"basic","status":""}`:       "invalid_field status",
		`{"plan":"basic","status":1}`:        "invalid_field status",
	} {
		r := w.ask("PUT", "/admin/v1/accounts/a/plan", body)
		field, _ := r.json(t)["field"].(string)
		if got := strings.TrimSpace(r.code() + " " + field); r.status != http.StatusBadRequest || got != want {
			t.Errorf("%s: got %d %s, want %s", body, r.status, r.body, want)
		}
	}
}

// The operator sees and stops any account's streams.
func TestAdminStreams(t *testing.T) {
	w := newWorld(t)
	stream := w.play("a", "tv")
	w.play("a", "phone")
	if r := w.ask("GET", "/admin/v1/accounts/a/streams", ""); strings.Count(r.body, "stream_id") != 2 {
		t.Errorf("got %s", r.body)
	}
	if r := w.ask("POST", "/admin/v1/accounts/a/streams/"+stream+"/force-stop", ""); r.body != `{"ok":true}` {
		t.Errorf("got %s", r.body)
	}
	if r := w.ask("POST", "/admin/v1/accounts/a/streams/"+stream+"/force-stop", ""); r.status != http.StatusNotFound {
		t.Errorf("twice: got %d", r.status)
	}
	if r := w.ask("POST", "/admin/v1/accounts/a/force-stop", ""); r.body != `{"ok":true,"stopped":1}` {
		t.Errorf("got %s", r.body)
	}
}

// With a token every admin route demands it; the public listener never does.
func TestAdminToken(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminToken = "s3cret" })
	for _, path := range []string{"/", "/metrics", "/debug/pprof/", "/admin/v1/settings", "/healthz"} {
		for given, want := range map[string]int{
			"":                  401,
			"Bearer":            401,
			"Bearer s3cre":      401,
			"Basic s3cret":      401,
			"Bearer s3cret":     200,
			"bearer   s3cret  ": 200,
		} {
			r := w.ask("GET", path, "", "Authorization", given)
			if r.status != want || want == 401 && (r.code() != "unauthorized" || r.header.Get("WWW-Authenticate") != "Bearer") {
				t.Errorf("%s with %q: got %d %s", path, given, r.status, r.body)
			}
		}
	}
	if r := w.call("GET", "/healthz", ""); r.status != http.StatusOK {
		t.Errorf("public: got %d", r.status)
	}
}

// Without a token, what a web page in the operator's browser could do is kept
// out: requests from another origin, and names that point at this machine.
func TestAdminWithoutToken(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		method, header, value string
		want                  int
	}{
		"curl":                     {"POST", "User-Agent", "curl", 200},
		"the console itself":       {"POST", "Sec-Fetch-Site", "same-origin", 200},
		"a page of another origin": {"POST", "Sec-Fetch-Site", "cross-site", 403},
		"an older browser":         {"POST", "Origin", "https://evil.example", 403},
	} {
		r := w.ask(tt.method, "/admin/v1/accounts/a/force-stop", "", tt.header, tt.value)
		if r.status != tt.want {
			t.Errorf("%s: got %d %s", name, r.status, r.body)
		}
	}
	for host, want := range map[string]bool{
		"127.0.0.1:9090": true, "[::1]:9090": true, "::1": true, "localhost": true, "localhost:9090": true,
		"evil.example": false, "localhost.evil.example:9090": false, "": false,
	} {
		if got := localHost(host); got != want {
			t.Errorf("%q: got %v, want %v", host, got, want)
		}
	}
}

// The operator's pages are there: an index, settings, profiles.
func TestAdminPages(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Settings = []byte(`{"lease_ttl":"90s"}`) })
	for path, want := range map[string]string{
		"/":                         "GET /metrics",
		"/admin/v1/settings":        `{"lease_ttl":"90s"}`,
		"/debug/pprof/":             "goroutine",
		"/debug/pprof/cmdline":      "httpapi",
		"/debug/pprof/heap?debug=1": "heap profile",
		"/readyz":                   `{"ok":true}`,
	} {
		if r := w.ask("GET", path, ""); r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("%s: got %d %.200s", path, r.status, r.body)
		}
	}
	if r := w.ask("GET", "/debug/pprof/nope", ""); r.status != http.StatusNotFound {
		t.Errorf("got %d %s", r.status, r.body)
	}
}
