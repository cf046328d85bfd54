package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const twoStreams = `{"limit":2,"active":[
{"stream_id":"AAAA","device_meta":{"name":"Living room","os":"tv"},"profile_id":null,"title_id":null,"started_at":"2026-03-01T20:15:00.250Z","last_seen":"2026-03-01T20:16:00.000Z","lapses_in_sec":42},
{"stream_id":"BBBB","device_meta":"phone","profile_id":null,"title_id":null,"started_at":"2026-03-01T20:15:30.000Z","last_seen":"2026-03-01T20:16:10.000Z","lapses_in_sec":90}]}`

// adminStub answers as an admin listener does for alice, and notes what is asked.
func adminStub(t *testing.T) (url string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.URL.EscapedPath()+" "+r.Header.Get("Authorization"))
		switch strings.TrimPrefix(r.URL.Path, "/admin/v1/accounts/alice") {
		case "/streams":
			io.WriteString(w, twoStreams)
		case "/streams/AAAA/force-stop":
			io.WriteString(w, `{"ok":true}`)
		case "/force-stop":
			io.WriteString(w, `{"ok":true,"stopped":2}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"error":"stream_not_found","message":"no such stream is live on this account"}`)
		}
	}))
	t.Cleanup(stub.Close)
	return stub.URL, asked
}

// A person reads a table, a script the JSON of the API.
func TestStreamsList(t *testing.T) {
	url, asked := adminStub(t)
	const table = `alice plays 2 of 2
STREAM  DEVICE       SINCE                 LAST SEEN             LAPSES IN
AAAA    Living room  2026-03-01T20:15:00Z  2026-03-01T20:16:00Z  42 s
BBBB    phone        2026-03-01T20:15:30Z  2026-03-01T20:16:10Z  90 s
`
	if code, out, err := headcountRun(t, nil, "streams", "list", "alice", "--admin-url", url, "--admin-token", "t"); code != 0 || out != table {
		t.Errorf("got %d, %s\n%s, want\n%s", code, err, out, table)
	}
	if want := "GET /admin/v1/accounts/alice/streams Bearer t"; len(*asked) != 1 || (*asked)[0] != want {
		t.Errorf("asked %q, want %q", *asked, want)
	}
	code, out, err := headcountRun(t, nil, "streams", "list", "alice", "--json", "--admin-url", url)
	if want := strings.ReplaceAll(twoStreams, "\n", "") + "\n"; code != 0 || out != want {
		t.Errorf("got %d, %s\n%s, want\n%s", code, err, out, want)
	}
}

// Stopping takes one name or --all, never neither: nothing ends by an omission.
func TestStreamsStop(t *testing.T) {
	url, asked := adminStub(t)
	for _, tt := range []struct {
		args        string
		code        int
		out, errout string
	}{
		{"alice AAAA", exitOK, "stopped 1 stream of alice\n", ""},
		{"alice AAAA --json", exitOK, `{"stopped":1}` + "\n", ""},
		{"alice --all", exitOK, "stopped 2 streams of alice\n", ""},
		{"alice --all --json", exitOK, `{"stopped":2}` + "\n", ""},
		{"alice CCCC", exitError, "", "stream_not_found"},
		{"alice", exitUsage, "", "--all"},
		{"alice AAAA --all", exitUsage, "", "--all"},
	} {
		*asked = nil
		code, out, errout := headcountRun(t, nil, append(strings.Fields("streams stop "+tt.args), "--admin-url", url)...)
		if code != tt.code || out != tt.out || !strings.Contains(errout, tt.errout) {
			t.Errorf("stop %s: got %d %q %q, want %d %q %q", tt.args, code, out, errout, tt.code, tt.out, tt.errout)
		}
		if tt.code == exitUsage && len(*asked) > 0 {
			t.Errorf("stop %s: asked %q", tt.args, *asked)
		}
	}
}

// Where nothing listens, the error says where it looked and what to check.
func TestStreamsWithoutServer(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	code, _, errout := headcountRun(t, nil, "streams", "list", "alice", "--admin-url", gone.URL)
	if code != exitError || !strings.Contains(errout, gone.URL) || !strings.Contains(errout, "running") {
		t.Errorf("got %d %q", code, errout)
	}
	code, _, errout = headcountRun(t, nil, "streams", "list", "alice", "--admin-url", "localhost:9090")
	if code != exitUsage || !strings.Contains(errout, "--admin-url") {
		t.Errorf("got %d %q", code, errout)
	}
}

// Metadata is written by strangers: whatever it is, the table stays a table.
func TestDeviceName(t *testing.T) {
	for meta, want := range map[string]string{
		``: "-", `null`: "-", `"tv"`: "tv", `{"name":"tv"}`: "tv", `{"os":"x"}`: `{"os":"x"}`, `""`: `""`, `{"name":7}`: `{"name":7}`,
		"\"a\\u001b[31mb\\tc\"": `a\x1b[31mb\tc`, `"Küche 📺"`: "Küche 📺", `"` + strings.Repeat("é", 40) + `"`: strings.Repeat("é", 31) + "…",
	} {
		if got := deviceName([]byte(meta)); got != want {
			t.Errorf("%s: got %q, want %q", meta, got, want)
		}
	}
}
