package httpapi

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	timePattern = `"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`
	idPattern   = `"[A-Za-z0-9_-]{40}"`
)

// matches fails unless got is exactly what the pattern says, in which bare words
// stand for themselves.
func matches(t *testing.T, got, pattern string) {
	t.Helper()
	want := regexp.QuoteMeta(pattern)
	want = strings.NewReplacer("<id>", idPattern, "<time>", timePattern).Replace(want)
	if !regexp.MustCompile("^" + want + "$").MatchString(got) {
		t.Errorf("got  %s\nwant %s", got, pattern)
	}
}

// Pressing play answers with a stream, its lease and its interval, byte for byte
// as documented; the third device on two slots hears who holds them.
func TestPlay(t *testing.T) {
	w := newWorld(t)
	r := w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"tv","title_id":"t1","device_meta":{ "name" :"TV \u00e9" }}`)
	matches(t, r.body, `{"stream_id":<id>,"lease_ttl_sec":90,"heartbeat_interval_sec":30}`)
	w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"phone","profile_id":"kids"}`)

	r = w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"tablet"}`)
	if r.status != http.StatusConflict {
		t.Fatalf("got %d %s, want 409", r.status, r.body)
	}
	matches(t, r.body, `{"error":"concurrent_stream_limit","message":"this account may play 2 at once and all are taken; stop one in active, or name it as replace_stream_id","limit":2,"active":[`+
		`{"stream_id":<id>,"device_meta":{ "name" :"TV \u00e9" },"profile_id":null,"title_id":"t1","started_at":<time>,"last_seen":<time>,"lapses_in_sec":90},`+
		`{"stream_id":<id>,"device_meta":null,"profile_id":"kids","title_id":null,"started_at":<time>,"last_seen":<time>,"lapses_in_sec":90}]}`)
}

// The operator chooses the status of a denial; the code stays.
func TestDenyStatus(t *testing.T) {
	s := newServer(t, t.Output(), func(c *Config) { c.DenyStatus = http.StatusForbidden })
	ts := listen(t, s.PublicServer())
	var r reply
	for i := range 3 {
		r = do(t, http.DefaultClient, "POST", ts.URL+"/v1/streams", fmt.Sprintf(`{"account_id":"a","device_id":"d%d"}`, i))
	}
	if r.status != http.StatusForbidden || r.code() != "concurrent_stream_limit" {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

// A heartbeat answers the lease and the interval, by PUT and by POST.
func TestHeartbeat(t *testing.T) {
	w := newWorld(t)
	stream := w.play("a", "tv")
	for _, method := range []string{"PUT", "POST"} {
		r := w.call(method, "/v1/streams/"+stream+"/heartbeat", `{"account_id":"a"}`)
		matches(t, r.body, `{"ok":true,"lease_ttl_sec":90,"heartbeat_interval_sec":30}`)
	}
}

// A heartbeat may tell of another title; what it does not tell of stays.
func TestHeartbeatUpdatesMetadata(t *testing.T) {
	w := newWorld(t)
	r := w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"tv","title_id":"t1","profile_id":"kids"}`)
	stream := r.json(t)["stream_id"].(string)
	w.call("PUT", "/v1/streams/"+stream+"/heartbeat", `{"account_id":"a","title_id":"t2","device_meta":"TV"}`)
	matches(t, w.call("GET", "/v1/accounts/a/streams", "").body,
		`{"limit":2,"active":[{"stream_id":<id>,"device_meta":"TV","profile_id":"kids","title_id":"t2","started_at":<time>,"last_seen":<time>,"lapses_in_sec":90}]}`)
}

// A player learns at its next heartbeat why its stream ended, and what to do.
func TestHeartbeatOfEndedStreams(t *testing.T) {
	w := newWorld(t)
	kicked, replaced := w.play("a", "tv"), w.play("a", "phone")
	w.call("POST", "/v1/accounts/a/streams/"+kicked+"/force-stop", "")
	w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"phone","device_meta":"Phone"}`)

	r := w.beat("a", kicked)
	matches(t, r.body, `{"error":"stream_stopped","message":"somebody stopped this stream; stop playing, and start again only when the viewer asks for it","action":"stop","reason":"force_stopped","stopped_at":<time>}`)
	r = w.beat("a", replaced)
	matches(t, r.body, `{"error":"stream_stopped","message":"this device started another stream in place of this one; stop playing this one","action":"stop","reason":"replaced","stopped_at":<time>,"by":"Phone"}`)
	r = w.beat("a", strings.Repeat("x", 40))
	if r.status != http.StatusGone {
		t.Errorf("got %d, want 410", r.status)
	}
	matches(t, r.body, `{"error":"lease_expired","message":"this stream is not live on this account: its lease expired, was released or never was; press play again","action":"re_acquire"}`)
}

// A batch answers in the order of the request, and a bad item harms no other.
func TestHeartbeatBatch(t *testing.T) {
	w := newWorld(t)
	live, kicked := w.play("a", "tv"), w.play("b", "tv")
	w.call("POST", "/v1/accounts/b/force-stop", "")
	r := w.call("POST", "/v1/streams/heartbeat:batch", `{"heartbeats":[
		{"account_id":"b","stream_id":"`+kicked+`"},
		{"account_id":1.5,"stream_id":"`+live+`"},
		{"account_id":"a","stream_id":"`+live+`","extra":[{}]},
		{"account_id":"a","stream_id":"n\u00f6pe"},
		{"account_id":"a"},
		{"account_id":"a","account_id":"b","stream_id":"`+live+`"},
		7
	]}`)
	want := `{"results":[` + strings.Join([]string{
		`{"stream_id":"` + kicked + `","ok":false,"error":"stream_stopped","action":"stop","reason":"force_stopped","stopped_at":<time>}`,
		`{"stream_id":"` + live + `","ok":false,"error":"invalid_field","message":"account_id must be a string or an integer from 0 to 9223372036854775807"}`,
		`{"stream_id":"` + live + `","ok":true,"lease_ttl_sec":90,"heartbeat_interval_sec":30}`,
		`{"stream_id":"n\u00f6pe","ok":false,"error":"lease_expired","action":"re_acquire"}`,
		`{"stream_id":null,"ok":false,"error":"invalid_field","message":"stream_id is required; give a string"}`,
		`{"stream_id":"` + live + `","ok":false,"error":"invalid_field","message":"account_id is given twice"}`,
		`{"stream_id":null,"ok":false,"error":"invalid_field","message":"a heartbeat must be an object with account_id and stream_id"}`,
	}, ",") + `]}`
	matches(t, r.body, want)
}

// A batch holds a thousand heartbeats and no more, or none at all.
func TestHeartbeatBatchSize(t *testing.T) {
	w := newWorld(t)
	stream := w.play("a", "tv")
	batch := func(n int) reply {
		item := `{"account_id":"a","stream_id":"` + stream + `"}`
		return w.call("POST", "/v1/streams/heartbeat:batch", `{"heartbeats":[`+strings.TrimSuffix(strings.Repeat(item+",", n), ",")+`]}`)
	}
	if r := batch(1000); r.status != http.StatusOK || strings.Count(r.body, `"ok":true`) != 1000 {
		t.Errorf("1,000 heartbeats: got %d, %.200s", r.status, r.body)
	}
	if r := batch(1001); r.status != http.StatusBadRequest || r.code() != "invalid_field" {
		t.Errorf("1,001 heartbeats: got %d %s", r.status, r.body)
	}
	if r := batch(0); r.body != `{"results":[]}` {
		t.Errorf("no heartbeat: got %d %s", r.status, r.body)
	}
	if r := w.call("POST", "/v1/streams/heartbeat:batch", `{"heartbeats":{}}`); r.code() != "invalid_field" {
		t.Errorf("an object: got %d %s", r.status, r.body)
	}
	if r := w.call("POST", "/v1/streams/heartbeat:batch", `{}`); r.code() != "missing_field" {
		t.Errorf("nothing: got %d %s", r.status, r.body)
	}
}

// Stopping frees the slot, twice is fine, a beacon may do it, and another
// account's stream is never touched.
func TestRelease(t *testing.T) {
	w := newWorld(t)
	for name, release := range map[string]func(stream string) reply{
		"DELETE with a body":        func(s string) reply { return w.call("DELETE", "/v1/streams/"+s, `{"account_id":"a"}`) },
		"DELETE with a query":       func(s string) reply { return w.call("DELETE", "/v1/streams/"+s+"?account_id=a", "") },
		"DELETE, the body wins":     func(s string) reply { return w.call("DELETE", "/v1/streams/"+s+"?account_id=b", `{"account_id":"a"}`) },
		"DELETE, a body without it": func(s string) reply { return w.call("DELETE", "/v1/streams/"+s+"?account_id=a", `{}`) },
		"a beacon": func(s string) reply {
			return w.call("POST", "/v1/streams/"+s+"/release", `{"account_id":"a"}`, "Content-Type", "text/plain;charset=UTF-8")
		},
		"a beacon with a query alone": func(s string) reply { return w.call("POST", "/v1/streams/"+s+"/release?account_id=%61", "") },
	} {
		stream := w.play("a", "tv")
		w.call("DELETE", "/v1/streams/"+stream+"?account_id=b", "") // not b's
		if r := w.beat("a", stream); r.status != http.StatusOK {
			t.Errorf("%s: another account ended the stream", name)
		}
		for range 2 {
			if r := release(stream); r.body != `{"ok":true}` {
				t.Errorf("%s: got %d %s", name, r.status, r.body)
			}
		}
		if r := w.call("GET", "/v1/accounts/a/streams", ""); r.body != `{"limit":2,"active":[]}` {
			t.Errorf("%s: still there: %s", name, r.body)
		}
	}
	if r := w.call("DELETE", "/v1/streams/x", ""); r.code() != "missing_field" {
		t.Errorf("no account: got %d %s", r.status, r.body)
	}
	if r := w.call("DELETE", "/v1/streams/x?account_id=a&account_id=b", ""); r.code() != "invalid_field" {
		t.Errorf("two accounts: got %d %s", r.status, r.body)
	}
}

// A kick frees the slot at once and works once; "sign out everywhere" says how
// many it ended.
func TestForceStop(t *testing.T) {
	w := newWorld(t)
	first := w.play("a", "tv")
	w.play("a", "phone")
	if r := w.call("POST", "/v1/accounts/b/streams/"+first+"/force-stop", ""); r.status != http.StatusNotFound || r.code() != "stream_not_found" {
		t.Errorf("another account's: got %d %s", r.status, r.body)
	}
	if r := w.call("POST", "/v1/accounts/a/streams/"+first+"/force-stop", ""); r.body != `{"ok":true}` {
		t.Errorf("got %d %s", r.status, r.body)
	}
	if r := w.call("POST", "/v1/accounts/a/streams/"+first+"/force-stop", ""); r.code() != "stream_not_found" {
		t.Errorf("twice: got %d %s", r.status, r.body)
	}
	w.play("a", "tablet")
	if r := w.call("POST", "/v1/accounts/a/force-stop", ""); r.body != `{"ok":true,"stopped":2}` {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

// "Stop that one and play here" takes the slot of the stream it names.
func TestReplaceStream(t *testing.T) {
	w := newWorld(t)
	w.plan("a", "basic")
	old := w.play("a", "tv")
	for name, body := range map[string]string{
		"null":      `{"account_id":"a","device_id":"phone","replace_stream_id":null}`,
		"malformed": `{"account_id":"a","device_id":"phone","replace_stream_id":"\u0000"}`,
		"empty":     `{"account_id":"a","device_id":"phone","replace_stream_id":""}`,
	} {
		if r := w.call("POST", "/v1/streams", body); r.status != http.StatusConflict {
			t.Errorf("%s: got %d, want 409", name, r.status)
		}
	}
	if r := w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"phone","replace_stream_id":"`+old+`"}`); r.status != http.StatusOK {
		t.Fatalf("got %d %s", r.status, r.body)
	}
	if got := w.beat("a", old).json(t)["reason"]; got != "force_stopped" {
		t.Errorf("got reason %v, want force_stopped", got)
	}
}

// A device with a key is another device than the same id without one.
func TestDeviceKey(t *testing.T) {
	w := newWorld(t)
	r := w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"tv","device_key":"k"}`)
	mine := r.json(t)["stream_id"].(string)
	w.play("a", "tv")
	if r := w.beat("a", mine); r.status != http.StatusOK {
		t.Errorf("the stream was taken over without its key: %s", r.body)
	}
}

// An account may be named by a number, which means its decimal string.
func TestAccountIDIsANumber(t *testing.T) {
	w := newWorld(t)
	r := w.call("POST", "/v1/streams", `{"account_id":9223372036854775807,"device_id":"tv"}`)
	stream := r.json(t)["stream_id"].(string)
	if r := w.beat("9223372036854775807", stream); r.status != http.StatusOK {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

// Ids are opaque: whatever is in them, they name one account, in a body and,
// percent-encoded, in a path.
func TestOddIDsAreKeptApart(t *testing.T) {
	w := newWorld(t)
	ids := []string{"a/b", "a%2Fb", "{x}", "a:b", "ü😀 z", "a?b#c", "..", ".", "a+b", "a b", "%", "force-stop", "//", "a\\b", `"`}
	want := map[string]string{}
	for _, id := range ids {
		r := w.call("POST", "/v1/streams", `{"account_id":`+string(appendString(nil, id))+`,"device_id":"tv"}`)
		if r.status != http.StatusOK {
			t.Fatalf("%q: %d %s", id, r.status, r.body)
		}
		want[id] = r.json(t)["stream_id"].(string)
	}
	got := map[string]string{}
	for _, id := range ids {
		active := w.call("GET", "/v1/accounts/"+segment(id)+"/streams", "").json(t)["active"].([]any)
		if len(active) == 1 {
			got[id] = active[0].(map[string]any)["stream_id"].(string)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// segment percent-encodes an id as one path segment, dots too.
func segment(id string) string {
	var b strings.Builder
	for _, c := range []byte(id) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// An inactive account starts nothing.
func TestInactiveAccount(t *testing.T) {
	w := newWorld(t)
	w.ask("PUT", "/admin/v1/accounts/a/plan", `{"plan":"standard","status":"paused"}`)
	r := w.call("POST", "/v1/streams", `{"account_id":"a","device_id":"tv"}`)
	if r.status != http.StatusForbidden || r.code() != "subscription_inactive" {
		t.Errorf("got %d %s", r.status, r.body)
	}
}
