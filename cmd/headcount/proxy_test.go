package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Behind a proxy that compresses whatever it can, the reader of an event stream
// that stays open still gets its first event at once.
func TestEventsPassCompressingProxies(t *testing.T) {
	needServices(t)
	server := startServer(t).public

	for _, proxy := range []struct {
		name, config string
		command      func(config string) *exec.Cmd
	}{
		{"nginx", nginxConfig, func(config string) *exec.Cmd {
			return exec.Command("nginx", "-p", filepath.Dir(config), "-c", config, "-e", "stderr")
		}},
		{"haproxy", haproxyConfig, func(config string) *exec.Cmd {
			return exec.Command("haproxy", "-db", "-f", config)
		}},
	} {
		t.Run(proxy.name, func(t *testing.T) {
			front := startProxy(t, proxy.config, server, proxy.command)
			beatPage(t, "http://"+front, "hotel")
			for _, stream := range []struct {
				name, path string
				want       []string // how its first lines begin
			}{
				{"the end of a stream", liveStream(t, server), []string{"retry: "}},
				{"the count of a page", "/api/v1/pages/hotel/viewer-count/stream",
					[]string{"retry: ", "", "id: 1", "event: count", `data: {"count":1,`, ""}},
				{"a grid of pages", "/api/v1/pages/viewer-count:stream?ids=hotel,empty",
					[]string{"retry: ", "", "id: ", "event: count", `data: {"page_id":"hotel","count":1,`, "",
						"id: ", "event: count", `data: {"page_id":"empty","count":0,`, ""}},
			} {
				got := firstLines(t, "http://"+front+stream.path, len(stream.want))
				for i, want := range stream.want {
					if !strings.HasPrefix(got[i], want) || want == "" && got[i] != "" {
						t.Errorf("%s, line %d: got %q, want %q", stream.name, i+1, got[i], want)
					}
				}
			}
		})
	}
}

const nginxConfig = `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  gzip on;
  gzip_min_length 1;
  gzip_proxied any;
  gzip_types text/event-stream application/json;
  server {
    listen FRONT;
    location / {
      proxy_pass http://BACK;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`

const haproxyConfig = `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  compression algo gzip
  compression type text/event-stream application/json
frontend front
  bind FRONT
  default_backend back
backend back
  server one BACK
`

// needServices skips the test unless the services it starts are meant to be here.
func needServices(t *testing.T) {
	t.Helper()
	if os.Getenv("HEADCOUNT_TEST_SERVICES") == "" {
		t.Skip("needs nginx and haproxy: make test installs them and runs this")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
}

func startProxy(t *testing.T, config, back string, command func(config string) *exec.Cmd) (front string) {
	t.Helper()
	front = freeAddress(t)
	path := filepath.Join(t.TempDir(), "proxy.conf")
	config = strings.NewReplacer("FRONT", front, "BACK", back).Replace(config)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := command(path)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("the proxy said:\n%s", &said)
		}
	})
	awaitAnswer(t, "http://"+front+"/readyz")
	return front
}

// liveStream presses play and returns the path of the stream's events.
func liveStream(t *testing.T, server string) string {
	t.Helper()
	res, err := http.Post("http://"+server+"/v1/streams", "application/json", strings.NewReader(`{"account_id":"alice","device_id":"tv"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var play struct {
		StreamID string `json:"stream_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&play); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/v1/streams/%s/events?account_id=alice", play.StreamID)
}

// beatPage puts one viewer on a page.
func beatPage(t *testing.T, server, page string) {
	t.Helper()
	body := fmt.Sprintf(`{"page_id":%q,"session_id":"s"}`, page)
	res, err := http.Post(server+"/api/v1/presence/heartbeat", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Fatalf("the beat got %d", res.StatusCode)
	}
}

// firstLines opens an event stream as a browser does, which takes gzip, and
// returns its first n lines. Three seconds are far more than a proxy that passes
// them on needs, and far less than one that waits for more.
func firstLines(t *testing.T, url string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Accept-Encoding", "gzip") // by hand, so that the transport does not undo it
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(res.Body); err != nil {
			t.Fatal(err)
		}
	}
	scanner := bufio.NewScanner(body)
	lines := make([]string, n)
	for i := range lines {
		if lines[i] = "nothing in time"; scanner.Scan() {
			lines[i] = scanner.Text()
		}
	}
	return lines
}
