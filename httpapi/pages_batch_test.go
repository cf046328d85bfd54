package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const gridPath = "/api/v1/pages/viewer-count:batch"

// numbers returns 0 to n-1, joined by commas.
func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return strings.Join(list, ",")
}

// The raw query is split at commas before it is decoded. A page is answered once,
// in the order in which pages were first named.
func TestGridQuery(t *testing.T) {
	w := newWorld(t)
	w.here("a", "s")
	w.here("a,b", "s")
	w.here("a,b", "t")
	w.here("a b", "s")
	for query, want := range map[string]string{
		"ids=a":                        `{"a":1}`,
		"ids=a,b":                      `{"a":1,"b":0}`,
		"ids=b,a":                      `{"b":0,"a":1}`,
		"ids=a%2Cb":                    `{"a,b":2}`,
		"ids=a%2cb,a":                  `{"a,b":2,"a":1}`,
		"ids=a&ids=b":                  `{"a":1,"b":0}`,
		"ids=a&ids=b,c&ids=a%2Cb":      `{"a":1,"b":0,"c":0,"a,b":2}`,
		"ids=a,a,b,%61&ids=a":          `{"a":1,"b":0}`,
		"%69ds=a":                      `{"a":1}`,
		"r=1&ids=a&x=b,c&scope=region": `{"a":1}`,
		"ids=a&ids=":                   `{"a":1}`,
		"ids=a%20b,a+b":                `{"a b":1}`,
		"ids=a;b":                      `{"a;b":0}`,
		"ids=100%":                     `{"100%":0}`,
		"ids=a=b":                      `{"a=b":0}`,
		"ids=%22%5C":                   `{"\"\\":0}`,
		"ids=a&detail=":                `{"a":1}`,
		"ids=a&detail=0":               `{"a":1}`,
	} {
		if r := w.call("GET", gridPath+"?"+query, ""); r.status != http.StatusOK || r.body != want {
			t.Errorf("%s: got %d %s, want %s", query, r.status, r.body, want)
		}
	}
}

// A grid names 1 to 100 pages, each a page id.
func TestGridQueryLimits(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		query  string
		status int
		code   string
	}{
		{"", 400, "missing_field"},
		{"?", 400, "missing_field"},
		{"?ids", 400, "missing_field"},
		{"?ids=", 400, "missing_field"},
		{"?IDS=a", 400, "missing_field"},
		{"?ids=,", 400, "invalid_field"},
		{"?ids=a,", 400, "invalid_field"},
		{"?ids=a,,b", 400, "invalid_field"},
		{"?ids=a%00", 400, "invalid_field"},
		{"?ids=%FF", 400, "invalid_field"},
		{"?ids=" + strings.Repeat("p", 257), 400, "invalid_field"},
		{"?ids=" + numbers(101), 400, "invalid_field"},
		{"?ids=" + numbers(60) + "&ids=" + numbers(60), 400, "invalid_field"},
		{"?ids=" + numbers(100), 200, ""},
		{"?ids=" + strings.Repeat(escape(strings.Repeat("p", 256))+",", 99) + "a", 200, ""},
	} {
		r := w.call("GET", gridPath+tt.query, "")
		if r.status != tt.status || r.code() != tt.code {
			t.Errorf("%.60s: got %d %.200s", tt.query, r.status, r.body)
		}
		if r.status == 400 && r.json(t)["field"] != "ids" {
			t.Errorf("%.60s: the field is not named: %s", tt.query, r.body)
		}
	}
	if got := w.srv.crowd.Stats().Pages; got != 0 {
		t.Errorf("reads left %d pages", got)
	}
}

// With detail=1 each page is answered as if it had been read alone.
func TestGridDetail(t *testing.T) {
	w := newWorld(t, crowdOn(t, "hot", 1234, true))
	w.here("a,b", "s")
	r := w.call("GET", gridPath+"?ids=hot,a%2Cb,nobody&detail=1", "")
	got := map[string]map[string]any{}
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || len(got) != 3 {
		t.Fatalf("%v: %s", err, r.body)
	}
	for page, detail := range got {
		alone := w.call("GET", countPath(page), "").json(t)
		for _, answer := range []map[string]any{detail, alone} {
			if ts, _ := answer["ts"].(float64); ts == 0 {
				t.Errorf("%s has no ts", page)
			}
			delete(answer, "ts")
		}
		if fmt.Sprint(detail) != fmt.Sprint(alone) {
			t.Errorf("%s: got %v, alone %v", page, detail, alone)
		}
	}
}

// More pages than a URL holds can be asked for in a body. Then the query names none.
func TestGridBody(t *testing.T) {
	w := newWorld(t)
	w.here("a", "s")
	w.here("a,b", "s")
	quoted := `"` + strings.ReplaceAll(numbers(100), ",", `","`) + `"`
	for _, tt := range []struct {
		query, body string
		status      int
		want        string // answer or code
	}{
		{"", `{"ids":["a"]}`, 200, `{"a":1}`},
		{"", ` { "ids" : [ "a,b" , "a" , "\u0061" , "b" ] , "x" : 1 } `, 200, `{"a,b":1,"a":1,"b":0}`},
		{"?ids=b", `{"ids":["a"]}`, 200, `{"a":1}`},
		{"", `{"ids":["\ud83d\ude00","\"","\u00fc","ü"]}`, 200, `{"😀":0,"\"":0,"ü":0}`},
		{"?ids=a", ``, 400, "invalid_json"},
		{"?ids=a", `{}`, 400, "missing_field"},
		{"", `{"ids":null}`, 400, "missing_field"},
		{"", `{"ids":[]}`, 400, "missing_field"},
		{"", `{"ids":"a"}`, 400, "invalid_field"},
		{"", `{"ids":["a",1]}`, 400, "invalid_field"},
		{"", `{"ids":["a",null]}`, 400, "invalid_field"},
		{"", `{"ids":["a",""]}`, 400, "invalid_field"},
		{"", `{"ids":["a\u0007"]}`, 400, "invalid_field"},
		{"", `{"ids":["a"],"ids":["b"]}`, 400, "invalid_json"},
		{"", `{"ids":["a"}`, 400, "invalid_json"},
		{"", `["a"]`, 400, "invalid_json"},
		{"", `{"ids":[` + quoted + `]}`, 200, `{"` + strings.ReplaceAll(numbers(100), ",", `":0,"`) + `":0}`},
		{"", `{"ids":["x",` + quoted + `]}`, 400, "invalid_field"},
		{"", `{"ids":["a"],"pad":"` + strings.Repeat("x", batchLimit) + `"}`, 413, "body_too_large"},
	} {
		r := w.call("POST", gridPath+tt.query, tt.body, "Content-Type", "text/plain")
		if r.status != tt.status || r.status == 200 && r.body != tt.want || r.status != 200 && r.code() != tt.want {
			t.Errorf("%s %.60s: got %d %.200s, want %s", tt.query, tt.body, r.status, r.body, tt.want)
		}
	}
	if r := w.call("POST", gridPath+"?detail=1", `{"ids":["a"]}`); !strings.HasPrefix(r.body, `{"a":{"page_id":"a","count":1,`) {
		t.Errorf("detail: got %s", r.body)
	}
}

// The ETag of a grid is over all that is answered but ts: the pages, their order,
// their counts and how much is said of them.
func TestGridETag(t *testing.T) {
	w := newWorld(t)
	w.here("a", "s")
	const one, both = `{"ids":["b"]}`, `{"ids":["a","b"]}`
	seen := map[string]string{}
	for _, tt := range []struct{ query, body string }{
		{"", one},
		{"?detail=1", one},
		{"", `{"ids":["c"]}`}, // as many viewers as b
		{"", both},
		{"?detail=1", both},
		{"", `{"ids":["b","a"]}`},
		{"", `{"ids":["b0","a1"]}`},
	} {
		r := w.call("POST", gridPath+tt.query, tt.body)
		tag := r.header.Get("ETag")
		if before, twice := seen[tag]; twice {
			t.Errorf("%s%s has the ETag of %s", tt.body, tt.query, before)
		}
		seen[tag] = tt.body + tt.query
		if r := w.call("POST", gridPath+tt.query, tt.body, "If-None-Match", tag); r.status != http.StatusNotModified || r.body != "" {
			t.Errorf("%s%s again: got %d %s", tt.body, tt.query, r.status, r.body)
		}
		if got := r.header.Get("Cache-Control"); got != "public, max-age=3" {
			t.Errorf("got Cache-Control: %q", got)
		}
	}

	get := gridPath + "?ids=a,b&detail=1"
	tag := w.call("GET", get, "").header.Get("ETag")
	if r := w.call("HEAD", get, "", "If-None-Match", `"x", `+tag); r.status != http.StatusNotModified {
		t.Errorf("HEAD: got %d", r.status)
	}
	w.here("b", "s")
	if r := w.call("GET", get, "", "If-None-Match", tag); r.status != http.StatusOK {
		t.Errorf("after a change: got %d", r.status)
	}
}

// The methods of the page routes, and HEAD as GET without a body.
func TestPageMethods(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", beatPath, 405, "POST, OPTIONS"},
		{"PUT", leavePath, 405, "POST, OPTIONS"},
		{"GET", beatsPath, 405, "POST, OPTIONS"},
		{"POST", countPath("p"), 405, "GET, HEAD, OPTIONS"},
		{"PUT", gridPath, 405, "GET, HEAD, POST, OPTIONS"},
		{"POST", streamPath("p"), 405, "GET, HEAD, OPTIONS"},
		{"POST", gridStreamPath, 405, "GET, HEAD, OPTIONS"},
		{"OPTIONS", gridPath, 204, "GET, HEAD, POST, OPTIONS"},
	} {
		r := w.call(tt.method, tt.path, "")
		if r.status != tt.status || r.header.Get("Allow") != tt.allow {
			t.Errorf("%s %s: got %d, Allow %q", tt.method, tt.path, r.status, r.header.Get("Allow"))
		}
	}
	for _, path := range []string{countPath("p"), countPath("\x00"), gridPath, gridPath + "?ids=p", gridPath + "?detail=1&ids=" + numbers(100)} {
		get, head := w.call("GET", path, ""), w.call("HEAD", path, "")
		if head.status != get.status || head.body != "" {
			t.Errorf("HEAD %s: got %d %q, want %d", path, head.status, head.body, get.status)
		}
		for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control", "ETag"} {
			if head.header.Get(name) != get.header.Get(name) {
				t.Errorf("HEAD %s: got %s %q, want %q", path, name, head.header.Get(name), get.header.Get(name))
			}
		}
	}
}
