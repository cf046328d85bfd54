// Command bare is the rival that headcount is measured against over HTTP: the
// least a net/http server can do. It reads the body and writes an answer that it
// was given at the start, headers included, and knows nothing else.
//
//	bare -listen 127.0.0.1:8090 -answers answers.json [-timeouts=false]
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
	"time"
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
	timeouts := flag.Bool("timeouts", true, "set the timeouts that headcount sets, without which no server can be left to strangers")
	flag.Parse()
	if err := run(*listen, *file, *timeouts); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

func run(listen, file string, timeouts bool) error {
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
	server := &http.Server{Addr: listen, Handler: newHandler(answers)}
	if timeouts {
		// Those of httpapi; how long they are makes no difference to what they cost.
		server.ReadHeaderTimeout, server.ReadTimeout = 10*time.Second, 10*time.Second
		server.WriteTimeout, server.IdleTimeout = 15*time.Second, 2*time.Minute
	}
	return server.ListenAndServe()
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
