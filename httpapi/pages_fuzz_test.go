package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

// knock hands the server a request as net/http would, and holds the answer to what
// is promised of any. It returns nil where net/http refuses the request itself.
func knock(t *testing.T, s *Server, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	raw := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", method, target, len(body), body)
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		return nil
	}
	rec := httptest.NewRecorder()
	s.Public().ServeHTTP(rec, r)
	checkAnswer(t, r, rec)
	return rec
}

// fuzzServer returns a server whose crowd soon has no room for more.
func fuzzServer(f *testing.F) *Server {
	f.Helper()
	return newServer(f, io.Discard, func(c *Config) {
		c.Crowd = newCrowd(f, c.Logger, func(o *crowd.Options) { o.MaxPages, o.MaxSessions = 1000, 1000 })
	})
}

// FuzzPresence holds beats, leaves and batches to encoding/json: a body is
// accepted only where it reads as a page and a session.
func FuzzPresence(f *testing.F) {
	for _, body := range []string{
		`{"page_id":"p","session_id":"s","ts":1}`, `{"page_id":"\ud83d\ude00","session_id":"\u0000"}`,
		`{"page_id":1,"session_id":null}`, `{"heartbeats":[{"page_id":"p","session_id":"s"},3,[],null]}`,
		`{"heartbeats":[{"page_id":"p","page_id":"q","session_id":"s"}],"heartbeats":0}`, "{\"page_id\":\"\xff\"}", `[`, ``,
	} {
		f.Add(body)
	}
	s := fuzzServer(f)
	f.Fuzz(func(t *testing.T, body string) {
		var members map[string]json.RawMessage
		isObject := json.Unmarshal([]byte(body), &members) == nil
		isID := func(key string, most int) bool {
			var id *string
			return isObject && json.Unmarshal(members[key], &id) == nil && id != nil && headcount.CheckID(key, *id, most) == nil
		}
		for _, path := range []string{beatPath, leavePath} {
			taken := knock(t, s, "POST", path, body).Code == http.StatusNoContent
			if taken && (!isID("page_id", headcount.MaxPageIDLen) || !isID("session_id", headcount.MaxIDLen)) {
				t.Fatalf("%s was taken by %s", body, path)
			}
		}
		if rec := knock(t, s, "POST", beatsPath, body); rec.Code == http.StatusOK {
			var got struct{ Accepted int }
			var beats []json.RawMessage
			if json.Unmarshal(rec.Body.Bytes(), &got) != nil || json.Unmarshal(members["heartbeats"], &beats) != nil || got.Accepted > len(beats) {
				t.Fatalf("%s: of %d beats were taken %s", body, len(beats), rec.Body)
			}
		}
	})
}

// FuzzGridQuery holds the batch read to its rule: the raw query split at commas,
// then decoded. The stream of a grid takes the same queries, and reads keep nothing.
func FuzzGridQuery(f *testing.F) {
	for _, query := range []string{
		"ids=a,b", "ids=a%2Cb&ids=c&detail=1", "ids=", "ids=,", "ids=%zz", "%69ds=a+b", "ids=%FF", "ids=a&scope=region&r=x", "&&=&ids",
		"ids=" + numbers(101),
	} {
		f.Add(query)
	}
	s := fuzzServer(f)
	s.BeginDrain() // event streams are refused instead of staying open
	f.Fuzz(func(t *testing.T, query string) {
		rec := knock(t, s, "GET", gridPath+"?"+query, "")
		if rec == nil {
			t.Skip("net/http answers this by itself")
		}
		stream := knock(t, s, "GET", gridStreamPath+"?"+query, "")
		if (rec.Code == http.StatusOK) != (stream.Code == http.StatusServiceUnavailable) {
			t.Fatalf("%s: the read got %d, the stream %d", query, rec.Code, stream.Code)
		}
		if rec.Code == http.StatusOK {
			checkGrid(t, query, rec.Body.Bytes())
		}
		if got := s.crowd.Stats(); got.Pages != 0 || got.Sessions != 0 || got.Readers != 0 {
			t.Fatalf("%s left %+v", query, got)
		}
	})
}

// checkGrid finds every page of an answer in the query.
func checkGrid(t *testing.T, query string, body []byte) {
	t.Helper()
	var pages map[string]any
	if err := json.Unmarshal(body, &pages); err != nil || len(pages) == 0 || len(pages) > maxGrid {
		t.Fatalf("%s: got %s", query, body)
	}
	named := map[string]bool{}
	for _, piece := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ',' }) {
		for _, form := range []string{piece, piece[strings.Index(piece, "=")+1:]} {
			named[form] = true
			if decoded, err := url.QueryUnescape(form); err == nil {
				named[decoded] = true
			}
		}
	}
	for page := range pages {
		if !named[page] {
			t.Fatalf("%s: the answer has %q", query, page)
		}
	}
}

// FuzzPageID reads pages of any id, however it is escaped. What is a page id is
// answered with itself and kept nowhere; all else is refused.
func FuzzPageID(f *testing.F) {
	for _, page := range append(oddPages(), "", "\x00", "\xff", "a\x85b", strings.Repeat("p", 257)) {
		f.Add(page)
	}
	s := fuzzServer(f)
	f.Fuzz(func(t *testing.T, page string) {
		want := http.StatusOK
		if page == "" {
			want = http.StatusNotFound
		} else if headcount.CheckID("page_id", page, headcount.MaxPageIDLen) != nil {
			want = http.StatusBadRequest
		}
		rec := knock(t, s, "GET", countPath(page), "")
		if rec.Code != want {
			t.Fatalf("%q: got %d %s, want %d", page, rec.Code, rec.Body, want)
		}
		if want == http.StatusOK {
			if got := (reply{body: rec.Body.String()}).json(t); got["page_id"] != page || got["count"] != 0.0 {
				t.Fatalf("%q: got %v", page, got)
			}
		}
		if escaped := url.PathEscape(page); page != "." && page != ".." && want != http.StatusNotFound {
			if again := knock(t, s, "GET", "/api/v1/pages/"+escaped+"/viewer-count", ""); again == nil || again.Code != want {
				t.Fatalf("%q as %s: got %v", page, escaped, again)
			}
		}
		knock(t, s, "HEAD", "/api/v1/pages/"+page+"/viewer-count", "")
		if got := s.crowd.Stats(); got.Pages != 0 {
			t.Fatalf("%q left %+v", page, got)
		}
	})
}
