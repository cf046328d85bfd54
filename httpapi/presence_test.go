package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

const (
	beatPath  = "/api/v1/presence/heartbeat"
	leavePath = "/api/v1/presence/leave"
	beatsPath = "/api/v1/presence/heartbeat:batch"
)

// here beats for a session on a page.
func (w *world) here(page, session string) {
	w.t.Helper()
	if r := w.call("POST", beatPath, presence(page, session)); r.status != http.StatusNoContent || r.body != "" {
		w.t.Fatalf("got %d %q", r.status, r.body)
	}
}

func presence(page, session string) string {
	return `{"page_id":` + string(appendString(nil, page)) + `,"session_id":` + string(appendString(nil, session)) + `}`
}

// wantCount fails the test unless the page has so many viewers.
func (w *world) wantCount(page string, want int) {
	w.t.Helper()
	r := w.call("GET", countPath(page), "")
	if got := r.json(w.t)["count"]; got != float64(want) {
		w.t.Errorf("%q has %v viewers, want %d", page, got, want)
	}
}

// A session counts once on a page, whatever the number of its beats, and on every
// page that it is on.
func TestBeatsCountSessionsOnce(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.here("p", "a")
		w.here("p", "b")
		w.here("q", "a")
	}
	w.wantCount("p", 2)
	w.wantCount("q", 1)
	w.wantCount("r", 0)
}

// A leave takes one session off one page, may be repeated, is harmless for those
// who were never there, and the session's next beat brings it back.
func TestLeave(t *testing.T) {
	w := newWorld(t)
	w.here("p", "a")
	w.here("p", "b")
	w.here("q", "a")
	for _, who := range []string{"a", "a", "stranger"} {
		if r := w.call("POST", leavePath, presence("p", who)); r.status != http.StatusNoContent || r.body != "" {
			t.Errorf("%s: got %d %q", who, r.status, r.body)
		}
	}
	w.wantCount("p", 1)
	w.wantCount("q", 1)
	w.here("p", "a")
	w.wantCount("p", 2)
}

// A beat is read in whatever form a browser or a gateway sends it. What else the
// body or the query says, a client's clock above all, means nothing.
func TestPresenceForms(t *testing.T) {
	w := newWorld(t)
	for i, tt := range []struct{ query, contentType, more string }{
		{"", "application/json", ""},
		{"", "text/plain;charset=UTF-8", ""},
		{"", "", ""},
		{"?r=8f2a", "text/plain", ""},
		{"?r=%zz&r=&scope=region", "application/json", ""},
		{"", "application/json", `,"ts":1772396100000`},
		{"", "application/json", `,"ts":-1e999`},
		{"", "application/json", `,"ts":"yesterday"`},
		{"", "application/json", `,"ts":{"ts":[null]}`},
		{"", "application/json", `,"tab":null,"x":{"page_id":"other","page_id":"other"}`},
	} {
		page := fmt.Sprintf("page %d", i)
		body := strings.TrimSuffix(presence(page, "s"), "}") + tt.more + "}"
		if r := w.call("POST", beatPath+tt.query, body, "Content-Type", tt.contentType); r.status != http.StatusNoContent {
			t.Errorf("%s: got %d %s", body, r.status, r.body)
		}
		w.wantCount(page, 1)
		if r := w.call("POST", leavePath+tt.query, body, "Content-Type", tt.contentType); r.status != http.StatusNoContent {
			t.Errorf("leave, %s: got %d %s", body, r.status, r.body)
		}
		w.wantCount(page, 0)
	}
}

// What is wrong with a beat or a leave is told by a code and the field's name, and
// nobody counts.
func TestBadPresence(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		body        string
		status      int
		code, field string
	}{
		{``, 400, "invalid_json", ""},
		{`[]`, 400, "invalid_json", ""},
		{`{"page_id":"p","session_id":"s"`, 400, "invalid_json", ""},
		{`{"page_id":"p","session_id":"s"}{}`, 400, "invalid_json", ""},
		{`{"page_id":"p","session_id":"s","page_id":"p"}`, 400, "invalid_json", ""},
		{`{"page_id":"p","session_id":"\udc00"}`, 400, "invalid_json", ""},
		{"{\"page_id\":\"p\",\"session_id\":\"\xff\"}", 400, "invalid_json", ""},
		{`{}`, 400, "missing_field", "page_id"},
		{`{"session_id":"s"}`, 400, "missing_field", "page_id"},
		{`{"page_id":null,"session_id":"s"}`, 400, "missing_field", "page_id"},
		{`{"page_id":"p"}`, 400, "missing_field", "session_id"},
		{`{"page_id":"p","session_id":null}`, 400, "missing_field", "session_id"},
		{`{"page_id":"","session_id":"s"}`, 400, "invalid_field", "page_id"},
		{`{"page_id":7,"session_id":"s"}`, 400, "invalid_field", "page_id"},
		{`{"page_id":"a\u0000b","session_id":"s"}`, 400, "invalid_field", "page_id"},
		{`{"page_id":"` + strings.Repeat("p", 257) + `","session_id":"s"}`, 400, "invalid_field", "page_id"},
		{`{"page_id":"p","session_id":""}`, 400, "invalid_field", "session_id"},
		{`{"page_id":"p","session_id":["s"]}`, 400, "invalid_field", "session_id"},
		{`{"page_id":"p","session_id":"` + strings.Repeat("s", 129) + `"}`, 400, "invalid_field", "session_id"},
		{`{"page_id":"p","session_id":"s","pad":"` + strings.Repeat("x", bodyLimit) + `"}`, 413, "body_too_large", ""},
	} {
		for _, path := range []string{beatPath, leavePath} {
			r := w.call("POST", path, tt.body)
			field, _ := r.json(t)["field"].(string)
			if r.status != tt.status || r.code() != tt.code || field != tt.field {
				t.Errorf("%s, %.80q: got %d %s", path, tt.body, r.status, r.body)
			}
		}
	}
	if got := w.srv.crowd.Stats().Sessions; got != 0 {
		t.Errorf("%d sessions count", got)
	}
}

// Ids may be as long as they are allowed to be, and hold anything but control
// characters; escaped or not, they are the same id.
func TestPresenceIDs(t *testing.T) {
	w := newWorld(t)
	for _, page := range oddPages() {
		w.here(page, strings.Repeat("s", 128))
		w.wantCount(page, 1)
	}
	w.call("POST", beatPath, `{"page_id":"\u00fc\ud83d\ude00","session_id":"\u0073"}`)
	w.here("ü😀", "s")
	w.wantCount("ü😀", 2) // oddPages has it too
}

// A gateway's batch counts its good items and skips the others, whatever is wrong
// with them.
func TestBeatBatch(t *testing.T) {
	w := newWorld(t)
	r := w.call("POST", beatsPath, `{"heartbeats":[
		{"page_id":"p","session_id":"a"},
		{"page_id":"p"},
		{"session_id":"a"},
		{"page_id":"","session_id":"a"},
		{"page_id":"p","session_id":1},
		{"page_id":"p","session_id":"c","session_id":"d"},
		null, 7, "p", [], {},
		{"ts":1,"page_id":"\u0070","session_id":"\u0062"},
		{"page_id":"p","session_id":"a"}
	]}`)
	if r.status != http.StatusOK || r.body != `{"accepted":3}` {
		t.Errorf("got %d %s", r.status, r.body)
	}
	w.wantCount("p", 2)
}

// A batch has at most 1,000 items, and is refused as a whole where it is no batch.
func TestBeatBatchLimits(t *testing.T) {
	w := newWorld(t)
	items := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = presence("p", fmt.Sprint("s", i))
		}
		return `{"heartbeats":[` + strings.Join(list, ",") + `]}`
	}
	for _, tt := range []struct {
		name, body string
		status     int
		want       string // answer or code
	}{
		{"too many", items(1001), 400, "invalid_field"},
		{"no list", `{}`, 400, "missing_field"},
		{"null", `{"heartbeats":null}`, 400, "missing_field"},
		{"an object", `{"heartbeats":{}}`, 400, "invalid_field"},
		{"no JSON", `{"heartbeats":[{]}`, 400, "invalid_json"},
		{"a broken item after good ones", `{"heartbeats":[` + presence("p", "s") + `,{"page_id":tru}]}`, 400, "invalid_json"},
		{"too large", `{"heartbeats":[],"pad":"` + strings.Repeat("x", batchLimit) + `"}`, 413, "body_too_large"},
		{"none", `{"heartbeats":[]}`, 200, `{"accepted":0}`},
		{"as many as may be", items(1000), 200, `{"accepted":1000}`},
	} {
		w.wantCount("p", 0)
		r := w.call("POST", beatsPath, tt.body, "Content-Type", "text/plain")
		if r.status != tt.status || r.status == 200 && r.body != tt.want || r.status != 200 && r.code() != tt.want {
			t.Errorf("%s: got %d %s", tt.name, r.status, r.body)
		}
	}
	w.wantCount("p", 1000)
}

// Beyond a cap newcomers are told nothing and dropped, and a metric counts them;
// those known go on, and a batch says how many of it count.
func TestCapsDropQuietly(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Crowd = newCrowd(t, c.Logger, func(o *crowd.Options) {
			o.MaxPages, o.MaxSessions, o.Registerer = 2, 3, c.Registerer
		})
	})
	for _, beat := range [][2]string{
		{"p", "a"}, {"q", "a"},
		{"r", "a"}, // a third page
		{"p", "b"},
		{"p", "c"}, {"q", "c"}, // a fourth and a fifth session
		{"p", "a"},
	} {
		w.here(beat[0], beat[1])
	}
	w.wantCount("p", 2)
	w.wantCount("q", 1)
	w.wantCount("r", 0)
	r := w.call("POST", beatsPath, `{"heartbeats":[`+presence("p", "a")+`,`+presence("p", "d")+`,`+presence("s", "a")+`]}`)
	if r.body != `{"accepted":1}` {
		t.Errorf("got %s", r.body)
	}
	metrics := w.ask("GET", "/metrics", "").body
	for outcome, want := range map[string]int{"added": 3, "renewed": 2, "max_pages": 1, "max_sessions": 4} {
		if line := fmt.Sprintf("headcount_presence_beats_total{outcome=%q} %d\n", outcome, want); !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// Whom a filter keeps out is told nothing either. Addresses are those that trusted
// proxies report; a gateway's own address is nobody's.
func TestFiltersKeepOutQuietly(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.LimitsAddresses = true
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.Crowd = newCrowd(t, c.Logger, func(o *crowd.Options) {
			o.Filter = crowd.Filters{crowd.NewAgentFilter(crowd.CrawlerAgents()), crowd.NewAddressFilter(2, time.Hour, time.Now)}
		})
	})
	for i, tt := range []struct {
		agent, forwarded string
		count            int
	}{
		{"Googlebot/2.1", "192.0.2.1", 0},
		{"Firefox", "192.0.2.1", 1},
		{"Firefox", "6.6.6.6, 192.0.2.1", 2},
		{"Firefox", "7.7.7.7, 192.0.2.1", 2}, // its third, whatever it claims
		{"Firefox", "192.0.2.2", 3},
		{"gateway", "", 4},
		{"gateway", "", 5},
		{"gateway", "", 6},
	} {
		header := []string{"User-Agent", tt.agent}
		if tt.forwarded != "" {
			header = append(header, "X-Forwarded-For", tt.forwarded)
		}
		r := w.call("POST", beatPath, presence("p", fmt.Sprint("s", i)), header...)
		if r.status != http.StatusNoContent {
			t.Errorf("step %d: got %d %s", i, r.status, r.body)
		}
		w.wantCount("p", tt.count)
	}
}

// A page of any origin may beat, and the preflight is remembered for long.
func TestPresenceCORS(t *testing.T) {
	w := newWorld(t)
	r := w.call("OPTIONS", beatPath, "", "Origin", "https://shop.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "*",
		"Access-Control-Allow-Methods": "POST",
		"Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID",
		"Access-Control-Max-Age":       "7200",
		"Vary":                         "",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("got %s: %q, want %q", name, got, want)
		}
	}
	if r := w.call("POST", beatPath, presence("p", "s"), "Origin", "https://shop.example"); r.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("got %v", r.header)
	}
}
