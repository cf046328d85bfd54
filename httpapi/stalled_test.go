package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount"
)

// pipes is a listener whose connections are pipes in memory, which keep the time
// of a bubble.
type pipes struct {
	conns chan net.Conn
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error   { return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// dial returns the client's end of a new connection.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// bubble runs a test against a server of h in a bubble of its own time, with the
// timeouts of a real one.
func bubble(t *testing.T, h http.Handler, story func(t *testing.T, p *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn)}
		hs := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout}
		go func() { _ = hs.Serve(p) }()
		story(t, p)
		close(p.conns)
		_ = hs.Close()
	})
}

// A reader that stops reading is dropped when its write has waited long enough,
// and not before.
func TestStalledReaderIsDropped(t *testing.T) {
	var took time.Duration
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := &Server{readers: newReaders(1, 0, nil)}
		start := time.Now()
		e := openEvents(w, &exchange{reply: w.Header()}, time.Second)
		defer e.close()
		s.follow(e, make(chan headcount.Ended))
		took = time.Since(start)
	})
	bubble(t, h, func(t *testing.T, p *pipes) {
		t.Helper()
		c := p.dial()
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		time.Sleep(time.Minute) // reads nothing
		synctest.Wait()
		if took != eventWriteTimeout {
			t.Errorf("dropped after %v, want %v", took, eventWriteTimeout)
		}
		_ = c.Close()
	})
}

// A client that sends its body a byte at a time is told so, and does not hold the
// connection for longer than the read timeout.
func TestSlowBodyIsRefused(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{reply: w.Header(), jsonType: []string{"application/json"}}
		if err := x.read(r, bodyLimit); err != nil {
			x.fail(err)
		}
		x.write(w, r.Method)
	})
	bubble(t, h, func(t *testing.T, p *pipes) {
		t.Helper()
		c := p.dial()
		start := time.Now()
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
		var sender sync.WaitGroup
		sender.Go(func() {
			for {
				if _, err := c.Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if r := (reply{status: res.StatusCode, body: string(body)}); r.code() != "invalid_json" || time.Since(start) != readTimeout {
			t.Errorf("after %v got %d %s", time.Since(start), r.status, r.body)
		}
		_ = c.Close()
		sender.Wait()
	})
}
