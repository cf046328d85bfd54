package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
)

// batchSize is the most beats that headcount takes in one call.
const batchSize = 1000

// batchCall returns headcount's batch of beats. Its "sessions" are the batches.
func batchCall(o options, v *viewers) call {
	var requests [][]byte
	for first := 0; first < o.sessions; first += batchSize {
		requests = append(requests, batch(o.address, v, first, min(batchSize, o.sessions-first)))
	}
	return call{
		write: func(b []byte, session int) []byte { return append(b, requests[session%len(requests)]...) },
		read:  readAnswer,
	}
}

func batch(host string, v *viewers, first, n int) []byte {
	body := []byte(`{"heartbeats":[`)
	for i := first; i < first+n; i++ {
		if i > first {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"page_id":"%s","session_id":"%s"}`, v.pages[i], v.names[i])
	}
	body = append(body, "]}"...)
	return fmt.Appendf(nil, "POST /api/v1/presence/heartbeat:batch HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, len(body), body)
}

func readAnswer(in *bufio.Reader) error {
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server answers %s: %s", resp.Status, text)
	}
	return err
}
