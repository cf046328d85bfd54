package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// What is wrong with a body is told by a code, and where one field is at fault by
// its name. Broken JSON wins over all else; then the fields in documented order.
func TestBadBodies(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 129)
	for _, tt := range []struct{ body, code, field string }{
		{``, "invalid_json", ""},
		{`{`, "invalid_json", ""},
		{`[]`, "invalid_json", ""},
		{`{"account_id":"a","device_id":"d"} x`, "invalid_json", ""},
		{`{"account_id":true,"account_id":"b","device_id":"d"}`, "invalid_json", ""},
		{`{"account_id":true,"device_id":"\ud800"}`, "invalid_json", ""},
		{`{}`, "missing_field", "account_id"},
		{`{"account_id":null,"device_id":"d"}`, "missing_field", "account_id"},
		{`{"account_id":"a"}`, "missing_field", "device_id"},
		{`{"device_id":7}`, "missing_field", "account_id"},
		{`{"account_id":"","device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":1.5,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":1.0,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":1e3,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":-1,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":-0,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":9223372036854775808,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":10000000000000000000,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":true,"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":["a"],"device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":"` + long + `","device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":"a\u0000","device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":"a\u0085","device_id":"d"}`, "invalid_field", "account_id"},
		{`{"account_id":"a","device_id":7}`, "invalid_field", "device_id"},
		{`{"account_id":"a","device_id":"d","device_key":""}`, "invalid_field", "device_key"},
		{`{"account_id":"a","device_id":"d","profile_id":1,"title_id":1}`, "invalid_field", "profile_id"},
		{`{"account_id":"a","device_id":"d","title_id":"` + long + `"}`, "invalid_field", "title_id"},
		{`{"account_id":"a","device_id":"d","device_meta":5}`, "invalid_field", "device_meta"},
		{`{"account_id":"a","device_id":"d","device_meta":["x"]}`, "invalid_field", "device_meta"},
		{`{"account_id":"a","device_id":"d","device_meta":"` + strings.Repeat("m", 511) + `"}`, "invalid_field", "device_meta"},
		{`{"account_id":"a","device_id":"d","replace_stream_id":{}}`, "invalid_field", "replace_stream_id"},
	} {
		r := w.call("POST", "/v1/streams", tt.body, "Content-Type", "application/json")
		field, _ := r.json(t)["field"].(string)
		if r.status != http.StatusBadRequest || r.code() != tt.code || field != tt.field {
			t.Errorf("%.80s: got %d %s", tt.body, r.status, r.body)
		}
	}
}

// What is merely unusual is read: unknown members, null for an optional one, ids
// and metadata at their longest, numbers as device metadata's values.
func TestUnusualBodies(t *testing.T) {
	w := newWorld(t)
	for i, more := range []string{
		``,
		`,"device_key":null,"profile_id":null,"title_id":null,"device_meta":null,"replace_stream_id":null`,
		`,"x":{"account_id":"b","account_id":"c"},"device_key":"` + strings.Repeat("k", 128) + `"`,
		`,"device_meta":"` + strings.Repeat("m", 510) + `"`,
		`,"device_meta":{"n":1e400,"deep":[[[]]]}`,
		`,"device_meta":""`,
		`,"title_id":"` + strings.Repeat("é", 64) + `"`,
	} {
		r := w.call("POST", "/v1/streams", fmt.Sprintf(`{"device_id":"d","account_id":"a%d"%s}`, i, more))
		if r.status != http.StatusOK {
			t.Errorf("%.80s: got %d %s", more, r.status, r.body)
		}
	}
}

// Device metadata comes back byte for byte, white space and escapes included.
func TestDeviceMetaComesBackAsItCame(t *testing.T) {
	w := newWorld(t)
	meta := "{ \"a\" : 1.00,\n\t\"\\u0061\": \"\\/<&>\" }"
	w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"d","device_meta":`+meta+`}`)
	if r := w.call("GET", "/v1/accounts/a/streams", ""); !strings.Contains(r.body, `"device_meta":`+meta+`,`) {
		t.Errorf("got %s", r.body)
	}
}

// JSON is read as JSON, as text, which is what beacons send, and without a type.
func TestContentTypes(t *testing.T) {
	w := newWorld(t)
	for contentType, want := range map[string]int{
		"application/json":                  200,
		"Application/JSON; charset=utf-8":   200,
		"text/plain;charset=UTF-8":          200,
		" application/json ;x=y":            200,
		"":                                  200,
		"application/xml":                   415,
		"application/x-www-form-urlencoded": 415,
		"application/merge-patch+json":      415,
		"text/html":                         415,
	} {
		r := w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"d"}`, "Content-Type", contentType)
		if r.status != want {
			t.Errorf("%q: got %d %s, want %d", contentType, r.status, r.body, want)
		}
	}
}

// A body beyond the limit is refused, announced or chunked, and the connection
// serves the next request.
func TestBodyLimits(t *testing.T) {
	w := newWorld(t)
	pad := func(n int) string {
		body := `{"account_id":"a","device_id":"d","pad":""}`
		return strings.Replace(body, `""`, `"`+strings.Repeat("x", n-len(body))+`"`, 1)
	}
	for _, tt := range []struct {
		path string
		size int
		want int
	}{
		{"/v1/streams", 16 << 10, 200},
		{"/v1/streams", 16<<10 + 1, 413},
		{"/v1/streams", 4 << 20, 413},
		{"/v1/streams/heartbeat:batch", 1 << 20, 400}, // read, and found to lack its field
		{"/v1/streams/heartbeat:batch", 1<<20 + 1, 413},
	} {
		for _, chunked := range []bool{false, true} {
			r, err := http.NewRequest(http.MethodPost, w.public.URL+tt.path, io.Reader(strings.NewReader(pad(tt.size))))
			if err != nil {
				t.Fatal(err)
			}
			if chunked {
				r.ContentLength = -1
			}
			res, err := w.client.Do(r)
			if err != nil {
				t.Errorf("%s, %d bytes, chunked %v: %v", tt.path, tt.size, chunked, err)
				continue
			}
			_ = res.Body.Close()
			if res.StatusCode != tt.want {
				t.Errorf("%s, %d bytes, chunked %v: got %d, want %d", tt.path, tt.size, chunked, res.StatusCode, tt.want)
			}
		}
	}
}

// A body that says it is too large is refused before a byte of it is read.
func TestTooLargeIsRefusedUnread(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	fmt.Fprintf(c, "POST /v1/streams HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d, want 413", res.StatusCode)
	}
}

// A body that ends early, or chunks that are none, are the client's fault.
func TestBrokenBodies(t *testing.T) {
	w := newWorld(t)
	for name, request := range map[string]string{
		"shorter than announced": "Content-Length: 100\r\n\r\n{}",
		"no chunk":               "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
	} {
		c := w.dial()
		fmt.Fprintf(c, "POST /v1/streams HTTP/1.1\r\nHost: x\r\n%s", request)
		_ = c.(*net.TCPConn).CloseWrite()
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if r := (reply{res.StatusCode, res.Header, string(body)}); r.code() != "invalid_json" {
			t.Errorf("%s: got %d %s", name, r.status, r.body)
		}
	}
}

// dial opens a connection to the public listener for requests that no client
// library would send.
func (w *world) dial() net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.public.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// A path is taken literally: what cannot be a route is a 404, never a redirect.
func TestPathsAreLiteral(t *testing.T) {
	w := newWorld(t)
	w.play("..", "tv")
	for path, want := range map[string]int{
		"/v1/accounts/%2E%2E/streams":                           200,
		"/v1/accounts/%2e%2e/streams":                           200,
		"/v1/accounts/a%2Fb/streams":                            200,
		"/v1/accounts/a%00b/streams":                            400,
		"/v1/accounts/%FF/streams":                              400,
		"/v1/accounts/" + strings.Repeat("a", 129) + "/streams": 400,
		"/v1/accounts/../streams":                               404,
		"/v1/accounts/./streams":                                404,
		"/v1/accounts//streams":                                 404,
		"//v1/accounts/a/streams":                               404,
		"/v1/accounts/a/streams/":                               404,
		"/v1/accounts/a/../a/streams":                           404,
		"/v1/Accounts/a/streams":                                404,
		"/v1/accounts/a/streams/x/y/z/q/r/s/t/u":                404,
		"/":                                                     404,
		"/metrics":                                              404,
		"/debug/pprof/":                                         404,
		"/admin/v1/settings":                                    404,
		"/nope":                                                 404,
	} {
		if r := w.call("GET", path, ""); r.status != want {
			t.Errorf("%s: got %d %s, want %d", path, r.status, r.body, want)
		}
	}
}

// A path that exists says which methods it takes.
func TestMethods(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/v1/streams", 405, "POST, OPTIONS"},
		{"DELETE", "/v1/streams/x/heartbeat", 405, "PUT, POST, OPTIONS"},
		{"DELETE", "/v1/streams/heartbeat:batch", 405, "POST, OPTIONS"},
		{"POST", "/v1/accounts/a/streams", 405, "GET, HEAD, OPTIONS"},
		{"BREW", "/healthz", 405, "GET, HEAD, OPTIONS"},
		{"OPTIONS", "/v1/streams", 204, "POST, OPTIONS"},
		{"OPTIONS", "/nope", 404, ""},
	} {
		r := w.call(tt.method, tt.path, "")
		if r.status != tt.status || r.header.Get("Allow") != tt.allow {
			t.Errorf("%s %s: got %d, Allow %q", tt.method, tt.path, r.status, r.header.Get("Allow"))
		}
	}
}

// HEAD is GET without a body.
func TestHead(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/v1/accounts/a/streams", "/healthz", "/openapi.yaml", "/nope", "/v1/accounts/%00/streams"} {
		get, head := w.call("GET", path, ""), w.call("HEAD", path, "")
		if head.status != get.status || head.body != "" {
			t.Errorf("%s: got %d %q, want %d and no body", path, head.status, head.body, get.status)
		}
		for _, name := range []string{"Content-Type", "Content-Length"} {
			if head.header.Get(name) != get.header.Get(name) {
				t.Errorf("%s: got %s %q, want %q", path, name, head.header.Get(name), get.header.Get(name))
			}
		}
	}
}

// Pages of the origins that the operator named may call stream routes, with
// credentials because beacons send them; all others may not.
func TestCORS(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.CORSOrigins = []string{"https://tv.example"} })
	preflight := []string{"Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers", "content-type"}

	r := w.call("OPTIONS", "/v1/streams/x/heartbeat", "", append(preflight, "Origin", "https://tv.example")...)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      "https://tv.example",
		"Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Methods":     "PUT, POST",
		"Access-Control-Allow-Headers":     "Authorization, Content-Type, Last-Event-ID",
		"Access-Control-Max-Age":           "7200",
		"Vary":                             "Origin",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("preflight: got %s: %q, want %q", name, got, want)
		}
	}
	r = w.call("POST", "/v1/streams", `{}`, "Origin", "https://tv.example")
	if got := r.header.Get("Access-Control-Allow-Origin"); got != "https://tv.example" {
		t.Errorf("an error must be readable too: got %q", got)
	}
	r = w.call("OPTIONS", "/v1/streams/x/heartbeat", "", append(preflight, "Origin", "https://evil.example")...)
	if got := r.header.Get("Access-Control-Allow-Origin") + r.header.Get("Access-Control-Max-Age"); got != "" || r.header.Get("Vary") != "Origin" {
		t.Errorf("another origin: got %q, Vary %q", got, r.header.Get("Vary"))
	}
}

// Without named origins no page may call stream routes; with "*" all may.
func TestCORSDefaults(t *testing.T) {
	for name, want := range map[string]string{"": "", "*": "*"} {
		w := newWorld(t, func(c *Config) {
			if name != "" {
				c.CORSOrigins = []string{name}
			}
		})
		r := w.call("POST", "/v1/streams", `{}`, "Origin", "https://tv.example")
		if got := r.header.Get("Access-Control-Allow-Origin"); got != want || r.header.Get("Vary") != "" {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// A path is literal also where it holds bytes that nobody had to write raw: an
// encoded slash stays a byte of an id, and opens no other route.
func TestRawBytesDoNotUnlockEncodedSlashes(t *testing.T) {
	w := newWorld(t)
	w.play("{a", "tv")
	for path, want := range map[string]int{
		"/v1/accounts/{a%2Fforce-stop":       http.StatusNotFound,
		"/v1/accounts/{a%2Fb/streams":        http.StatusOK,
		"/v1/accounts/a%2Fb\xc3\xbc/streams": http.StatusOK,
	} {
		method := http.MethodGet
		if want == http.StatusNotFound {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, "/", nil)
		u, err := url.ParseRequestURI(path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = u
		rec := httptest.NewRecorder()
		w.srv.Public().ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("%s %s: got %d %s, want %d", method, path, rec.Code, rec.Body, want)
		}
	}
}
