// Command bare is the rival that headcount is measured against over HTTP: the
// least a net/http server can do. It reads the body and writes an answer that it
// was given at the start, headers included, and knows nothing else.
//
//	bare -listen 127.0.0.1:8090 -answers answers.json
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
)

// answer is a response recorded from headcount; see bench/http.
type answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
	body   []byte
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "address to serve on")
	file := flag.String("answers", "", "JSON object of answers by kind of request")
	flag.Parse()
	if err := run(*listen, *file); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

func run(listen, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var answers map[string]*answer
	if err := json.Unmarshal(text, &answers); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, a := range answers {
		a.body = []byte(a.Body)
	}
	// No timeouts: each would cost the server a deadline per request, and the
	// rival is to be as fast as net/http can be.
	return (&http.Server{Addr: listen, Handler: newHandler(answers)}).ListenAndServe() //nolint:gosec // see above
}

// newHandler returns a handler that routes by as little as tells the kinds apart.
func newHandler(answers map[string]*answer) http.Handler {
	play, renew, stop := answers["play"], answers["renew"], answers["stop"]
	beat, count := answers["beat"], answers["count"]
	buffers := sync.Pool{New: func() any { return new([512]byte) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := buffers.Get().(*[512]byte)
		for {
			if _, err := r.Body.Read(buf[:]); err != nil {
				if err != io.EOF {
					return
				}
				break
			}
		}
		buffers.Put(buf)
		a := play
		switch {
		case r.Method == http.MethodPut:
			a = renew
		case r.Method == http.MethodDelete:
			a = stop
		case r.Method == http.MethodGet:
			a = count
		case strings.HasPrefix(r.URL.Path, "/api/"):
			a = beat
		}
		header := w.Header()
		for name, values := range a.Header {
			header[name] = values
		}
		w.WriteHeader(a.Status)
		if len(a.body) > 0 {
			w.Write(a.body)
		}
	})
}
