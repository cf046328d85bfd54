package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// freeAddress returns a loopback address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// testServer is a server that runs in the test's own process.
type testServer struct {
	public, admin string
	cancel        context.CancelFunc // what the first signal does
	ended         chan int           // the exit code
}

// startServer runs a server until the test ends.
func startServer(t *testing.T) *testServer {
	t.Helper()
	dir := t.TempDir() // made first, so that it is removed last
	s := &testServer{public: freeAddress(t), admin: freeAddress(t), ended: make(chan int, 1)}
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(t.Context())
	go func() {
		s.ended <- run(ctx, []string{"serve", "--listen", s.public, "--admin-listen", s.admin, "--data-dir", dir},
			func(string) string { return "" }, strings.NewReader(""), io.Discard, io.Discard)
	}()
	t.Cleanup(func() {
		s.cancel()
		if code := <-s.ended; code != exitOK {
			t.Errorf("the server ended with code %d, want %d", code, exitOK)
		}
	})
	awaitAnswer(t, "http://"+s.public+"/readyz")
	return s
}

// A drain says no to load balancers while requests are still answered, tells the
// readers of event streams when to come back, and is over within ten seconds.
func TestDrain(t *testing.T) {
	s := startServer(t)
	res, err := http.Get("http://" + s.public + liveStream(t, s.public))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	began := time.Now()
	s.cancel()
	events, err := io.ReadAll(res.Body) // ends when the server closes it
	if err != nil {
		t.Errorf("the event stream was cut: %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the event stream was closed after %v, want 2s at most", took)
	}
	retries := strings.Split(string(events), "retry: ")[1:]
	if len(retries) != 2 { // the first came with the headers
		t.Fatalf("got %q, want one more retry than at the beginning", events)
	}
	var wait int
	if _, err := fmt.Sscan(retries[1], &wait); err != nil || wait < 5000 || wait > 30000 {
		t.Errorf("got a retry of %q, want 5000 to 30000 ms", retries[1])
	}
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/healthz": http.StatusOK} {
		res, err := http.Get("http://" + s.public + path)
		if err != nil {
			t.Errorf("GET %s while draining: %v", path, err)
			continue
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("GET %s while draining: got %d, want %d", path, res.StatusCode, want)
		}
	}
	code := <-s.ended
	s.ended <- code // for the end of the test
	if took := time.Since(began); code != exitOK || took > 10*time.Second {
		t.Errorf("got code %d after %v, want %d within 10s", code, took, exitOK)
	}
}

// awaitAnswer asks until the answer is 200.
func awaitAnswer(t *testing.T, url string) {
	t.Helper()
	last := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		res, err := http.Get(url)
		if err != nil {
			last = err.Error()
			continue
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return
		}
		last = res.Status
	}
	t.Fatalf("%s: got %s, want 200", url, last)
}
