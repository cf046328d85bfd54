package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
)

// answer is a response as the bare handler is to repeat it.
type answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
}

// startBare records one answer of headcount per kind of request, and starts two
// bare handlers with them: in a server with headcount's timeouts, and without any.
func (b *bench) startBare(ctx context.Context, ours *server) (bare, careless *server, err error) {
	answers, err := b.record(ctx, "http://"+ours.address)
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(answers)
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(b.path("answers.json"), text, 0o600); err != nil {
		return nil, nil, err
	}
	for i, s := range []**server{&bare, &careless} {
		address, err := freeAddress()
		if err != nil {
			return nil, nil, err
		}
		*s, err = start(ctx, address, b.path("bare"), "-listen", address, "-answers", b.path("answers.json"), "-timeouts="+strconv.FormatBool(i == 0))
		if err != nil {
			return nil, nil, err
		}
	}
	return bare, careless, nil
}

// record asks a server once for each kind of request that the chosen rows send.
func (b *bench) record(ctx context.Context, url string) (map[string]answer, error) {
	answers := map[string]answer{}
	ask := func(kind, method, path, body string) error {
		req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if resp.StatusCode/100 != 2 {
			return fmt.Errorf("%s: headcount answers %s: %s", kind, resp.Status, text)
		}
		resp.Header.Del("Date") // net/http adds both by itself, faster than if they were given
		resp.Header.Del("Content-Length")
		answers[kind] = answer{resp.StatusCode, resp.Header, string(text)}
		return nil
	}
	const (
		page  = "page-0000000000000000001" // as long as the load's
		beat  = `{"page_id":"` + page + `","session_id":"0123456789abcdef0123456789abcdef"}`
		owner = `{"account_id":"1000000001"}`
	)
	err := ask("play", http.MethodPost, "/v1/streams", `{"account_id":"1000000001","device_id":"recorded"}`)
	if err != nil {
		return nil, err
	}
	var play struct {
		StreamID string `json:"stream_id"`
	}
	if err := json.Unmarshal([]byte(answers["play"].Body), &play); err != nil {
		return nil, err
	}
	for _, q := range [][4]string{
		{"renew", http.MethodPut, "/v1/streams/" + play.StreamID + "/heartbeat", owner},
		{"stop", http.MethodDelete, "/v1/streams/" + play.StreamID, owner},
		{"beat", http.MethodPost, "/api/v1/presence/heartbeat", beat},
		{"count", http.MethodGet, "/api/v1/pages/" + page + "/viewer-count", ""},
	} {
		if !b.sends(q[0]) {
			continue
		}
		if err := ask(q[0], q[1], q[2], q[3]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// sends reports whether a chosen row, or the fill before it, sends a kind.
func (b *bench) sends(kind string) bool {
	return slices.ContainsFunc(rows(), func(r row) bool {
		fills := kind == "beat" && strings.HasPrefix(r.mix, "count=")
		return b.only.MatchString(r.name) && (fills || strings.Contains(r.mix, kind+"="))
	})
}
