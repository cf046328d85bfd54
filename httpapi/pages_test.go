package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

// oddPages returns page ids that a path, a query or JSON could misread.
func oddPages() []string {
	return []string{
		"/hotels/rome?x=1&y=2#top", "ü😀", "a,b", ",", "{page_id}", "a b", "a+b", "100%", "%2F", "..", ".", "/", "//",
		"viewer-count", "viewer-count:batch", "viewer-count:stream", "heartbeat", `"quoted\"`, "a=b&ids=c", "\u2028",
		strings.Repeat("p", 256), strings.Repeat("é", 128),
	}
}

// escape percent-encodes every byte.
func escape(id string) string {
	var b strings.Builder
	for i := range len(id) {
		fmt.Fprintf(&b, "%%%02X", id[i])
	}
	return b.String()
}

func countPath(page string) string { return "/api/v1/pages/" + escape(page) + "/viewer-count" }

// crowdOn returns a configuration change that gives the server a crowd that knows
// of so many viewers on a page. Where nobody runs it, what it knows is too old to
// be told.
func crowdOn(tb testing.TB, page string, viewers int, run bool) func(*Config) {
	return func(c *Config) {
		c.Crowd = idleCrowd(tb, c.Logger)
		if run {
			c.Crowd = newCrowd(tb, c.Logger)
		}
		for i := range viewers {
			c.Crowd.Beat(page, fmt.Sprint("s", i), crowd.Visitor{})
		}
	}
}

// The answer has the page, its number, what to show of it, and when that was so.
func TestCount(t *testing.T) {
	for _, tt := range []struct {
		viewers         int
		bucket, display string
	}{
		{0, "0", "0"},
		{1, "1-10", "1"},
		{23, "20-30", "23"},
		{100, "100+", "100+"},
		{1234, "1200+", "1.2K+"},
	} {
		w := newWorld(t, crowdOn(t, "p", tt.viewers, true))
		r := w.call("GET", countPath("p"), "")
		want := fmt.Sprintf(`{"page_id":"p","count":%d,"bucket":%q,"display":%q,"approx":false,"ts":`, tt.viewers, tt.bucket, tt.display)
		if r.status != http.StatusOK || !strings.HasPrefix(r.body, want) {
			t.Errorf("%d viewers: got %d %s, want %s...", tt.viewers, r.status, r.body, want)
		}
		age := time.Since(time.UnixMilli(int64(r.json(t)["ts"].(float64))))
		if age < -time.Second || age > time.Minute {
			t.Errorf("ts is %v old", age)
		}
		if got := r.header.Get("Cache-Control"); got != "public, max-age=3" {
			t.Errorf("got Cache-Control: %q", got)
		}
	}
}

// Parameters that are for proxies, or for nodes with neighbours, change nothing.
func TestCountIgnoresParameters(t *testing.T) {
	w := newWorld(t)
	w.here("p", "s")
	for _, query := range []string{"?scope=region", "?r=abc", "?ts=1", "?ids=q", "?%zz&&="} {
		if r := w.call("GET", countPath("p")+query, ""); r.status != 200 || r.json(t)["count"] != 1.0 {
			t.Errorf("%s: got %d %s", query, r.status, r.body)
		}
	}
}

// A page id in a path means its decoded bytes, whatever they are; reading a page
// that nobody is on keeps nothing.
func TestPageIDsInPaths(t *testing.T) {
	w := newWorld(t)
	for _, page := range oddPages() {
		r := w.call("GET", countPath(page), "")
		if r.status != http.StatusOK || r.json(t)["page_id"] != page || r.json(t)["count"] != 0.0 {
			t.Errorf("%q: got %d %s", page, r.status, r.body)
		}
	}
	for path, status := range map[string]int{
		"/api/v1/pages/a+b/viewer-count":                                        200,
		"/api/v1/pages/" + strings.Repeat("p", 257) + "/viewer-count":           400,
		"/api/v1/pages/%00/viewer-count":                                        400,
		"/api/v1/pages/%C2%85/viewer-count":                                     400,
		"/api/v1/pages/%FF/viewer-count":                                        400,
		"/api/v1/pages//viewer-count":                                           404,
		"/api/v1/pages/../viewer-count":                                         404,
		"/api/v1/pages/a/b/viewer-count":                                        404,
		"/api/v1/pages/a/viewer-count/":                                         404,
		"/api/v1/pages/a":                                                       404,
		"/api/v1/pages/" + strings.Repeat("%F0%9F%98%80", 65) + "/viewer-count": 400,
	} {
		r := w.call("GET", path, "")
		if r.status != status || status == 400 && (r.code() != "invalid_field" || r.json(t)["field"] != "page_id") {
			t.Errorf("%.60s: got %d %s", path, r.status, r.body)
		}
	}
	if got := w.srv.crowd.Stats(); got.Pages != 0 || got.Sessions != 0 {
		t.Errorf("reads left %+v", got)
	}
}

// A client that has the current answer is told so, by the weak comparison, in
// whatever way it asks; one that has another gets the new one.
func TestCountNotModified(t *testing.T) {
	w := newWorld(t)
	w.here("p", "a")
	tag := w.call("GET", countPath("p"), "").header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) || !strings.HasSuffix(tag, `"`) {
		t.Errorf("%s is no weak ETag", tag)
	}
	for _, tt := range []struct {
		header string
		status int
	}{
		{tag, 304},
		{strings.TrimPrefix(tag, "W/"), 304},
		{`"x", ` + tag, 304},
		{`W/"x",` + tag + ` , "y"`, 304},
		{"*", 304},
		{`"x"`, 200},
		{strings.Trim(tag, `W/"`), 200}, // no quotes, no tag
		{"", 200},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			r := w.call(method, countPath("p"), "", "If-None-Match", tt.header)
			if r.status != tt.status || (r.status == 304 || method == "HEAD") != (r.body == "") {
				t.Errorf("%s, %s: got %d %q, want %d", method, tt.header, r.status, r.body, tt.status)
			}
			if r.header.Get("ETag") != tag || r.header.Get("Cache-Control") != "public, max-age=3" {
				t.Errorf("%s, %s: got %v", method, tt.header, r.header)
			}
		}
	}
	w.here("p", "b")
	if r := w.call("GET", countPath("p"), "", "If-None-Match", tag); r.status != 200 || r.header.Get("ETag") == tag {
		t.Errorf("after a change: got %d, %s", r.status, r.header.Get("ETag"))
	}
}

// Any node may say that an answer of another one is still good: their ETags are
// equal exactly when their counts are.
func TestETagsOfNodesAgree(t *testing.T) {
	for _, viewers := range []int{0, 7, readyTags - 1, readyTags, readyTags + 1} {
		one, other := newWorld(t, crowdOn(t, "p", viewers, true)), newWorld(t, crowdOn(t, "p", viewers, true))
		for _, path := range []string{countPath("p"), gridPath + "?ids=p,q", gridPath + "?detail=1&ids=p"} {
			tag := one.call("GET", path, "").header.Get("ETag")
			if r := other.call("GET", path, "", "If-None-Match", tag); r.status != http.StatusNotModified {
				t.Errorf("%d viewers, %s: got %d, %s and %s", viewers, path, r.status, tag, r.header.Get("ETag"))
			}
		}
		one.here("p", "one more")
		if a, b := one.call("GET", countPath("p"), "").header.Get("ETag"), other.call("GET", countPath("p"), "").header.Get("ETag"); a == b {
			t.Errorf("%d and %d viewers have the ETag %s", viewers, viewers+1, a)
		}
	}
}

// What is too old to be told as a number is told as a word that breaks no page,
// and kept by caches for a second only.
func TestDegradedCount(t *testing.T) {
	for viewers, want := range map[int]string{
		0:  `{"page_id":"p","count":null,"bucket":"quiet","display":"","degraded":true,"ts":`,
		19: `{"page_id":"p","count":null,"bucket":"quiet","display":"","degraded":true,"ts":`,
		20: `{"page_id":"p","count":null,"bucket":"popular","display":"Popular today","degraded":true,"ts":`,
	} {
		w := newWorld(t, crowdOn(t, "p", viewers, false))
		r := w.call("GET", countPath("p"), "")
		if r.status != http.StatusOK || !strings.HasPrefix(r.body, want) {
			t.Errorf("%d viewers: got %d %s, want %s...", viewers, r.status, r.body, want)
		}
		if got := r.header.Get("Cache-Control"); got != "public, max-age=1" {
			t.Errorf("got Cache-Control: %q", got)
		}
		if again := w.call("GET", countPath("p"), "", "If-None-Match", r.header.Get("ETag")); again.status != http.StatusNotModified {
			t.Errorf("the same again: got %d", again.status)
		}
		for _, query := range []string{"?ids=p,q", "?ids=p,q&detail=1"} {
			r := w.call("GET", gridPath+query, "")
			if got := r.header.Get("Cache-Control"); got != "public, max-age=1" {
				t.Errorf("%s: got Cache-Control: %q", query, got)
			}
			if query == "?ids=p,q" && r.body != `{"p":null,"q":null}` || !strings.Contains(r.body, want[len(`{"page_id":"p",`):len(want)-len(`,"ts":`)]) && query != "?ids=p,q" {
				t.Errorf("%s: got %s", query, r.body)
			}
		}
	}
}

// The operator says how long a count may be cached; a degraded one never longer
// than a second.
func TestCountMaxAge(t *testing.T) {
	for run, want := range map[bool]string{true: "public, max-age=30", false: "public, max-age=1"} {
		w := newWorld(t, crowdOn(t, "p", 1, run), func(c *Config) { c.CountMaxAge = 30 * time.Second })
		if got := w.call("GET", countPath("p"), "").header.Get("Cache-Control"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Any page may read counts unless the operator names origins; then those may, with
// credentials, and caches keep the answers apart, those to nobody known too.
func TestCountCORS(t *testing.T) {
	named := func(c *Config) { c.PresenceOrigins = []string{"https://shop.example"} }
	for _, tt := range []struct {
		change             []func(*Config)
		origin             string
		allow, creds, vary string
	}{
		{nil, "https://shop.example", "*", "", ""},
		{nil, "", "*", "", ""},
		{[]func(*Config){named}, "https://shop.example", "https://shop.example", "true", "Origin"},
		{[]func(*Config){named}, "https://evil.example", "", "", "Origin"},
		{[]func(*Config){named}, "", "", "", "Origin"},
	} {
		w := newWorld(t, tt.change...)
		tag := w.call("GET", countPath("p"), "").header.Get("ETag")
		for _, path := range []string{countPath("p"), countPath("\x00"), gridPath + "?ids=p", gridPath} {
			for _, have := range []string{"", tag} {
				h := w.call("GET", path, "", "Origin", tt.origin, "If-None-Match", have).header
				got := [3]string{h.Get("Access-Control-Allow-Origin"), h.Get("Access-Control-Allow-Credentials"), h.Get("Vary")}
				if got != [3]string{tt.allow, tt.creds, tt.vary} {
					t.Errorf("from %q, %s: got %q", tt.origin, path, got)
				}
			}
		}
	}
}

// Nothing is compressed, whatever the client takes: counts are smaller than what
// compressing them costs, and events must not wait for more.
func TestNothingIsCompressed(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{countPath("p"), gridPath + "?ids=p,q&detail=1", streamPath("p"), gridStreamPath + "?ids=p"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", w.public.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip, br, zstd")
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := res.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%s: got Content-Encoding: %s", path, got)
		}
	}
}

// No id of a page or session becomes part of a metric.
func TestMetricsNameNoPage(t *testing.T) {
	w := newWorld(t)
	w.here("secret-page", "secret-session")
	w.call("GET", countPath("secret-page"), "")
	w.call("GET", gridPath+"?ids=secret-page", "")
	if metrics := w.ask("GET", "/metrics", "").body; strings.Contains(metrics, "secret") {
		t.Error("the metrics name a page or a session")
	}
}
