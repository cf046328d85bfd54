package main

import (
	"context"
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

// startServer runs a server until the test ends and returns its two addresses.
func startServer(t *testing.T) (public, admin string) {
	t.Helper()
	public, admin, dir := freeAddress(t), freeAddress(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", public, "--admin-listen", admin, "--data-dir", dir},
			func(string) string { return "" }, strings.NewReader(""), io.Discard, io.Discard)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("the server ended with code %d, want %d", code, exitOK)
		}
	})
	awaitAnswer(t, "http://"+public+"/readyz")
	return public, admin
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
