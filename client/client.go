package client

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Client speaks for players and for the pages of an account. It is safe for
// concurrent use.
type Client struct{ server }

// Admin speaks for the operator, to the admin listener. It is safe for
// concurrent use.
type Admin struct{ server }

// Option changes how a client speaks to its server.
type Option func(*server)

// WithHTTPClient sends requests through h instead of [http.DefaultClient].
func WithHTTPClient(h *http.Client) Option { return func(s *server) { s.http = h } }

// WithToken sends a bearer token with every request; an empty one is none.
func WithToken(token string) Option { return func(s *server) { s.token = token } }

// New returns a client of the public API at a URL such as http://localhost:8080.
func New(baseURL string, options ...Option) (*Client, error) {
	s, err := newServer(baseURL, options)
	return &Client{s}, err
}

// NewAdmin returns a client of the admin listener at a URL such as
// http://127.0.0.1:9090.
func NewAdmin(baseURL string, options ...Option) (*Admin, error) {
	s, err := newServer(baseURL, options)
	return &Admin{s}, err
}

func newServer(baseURL string, options []Option) (server, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return server{}, fmt.Errorf("client: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return server{}, fmt.Errorf("client: %q is not the URL of a server; give one like http://localhost:8080", baseURL)
	}
	s := server{base: strings.TrimSuffix(baseURL, "/"), http: http.DefaultClient}
	for _, option := range options {
		option(&s)
	}
	return s, nil
}

// segment writes an id as one segment of a path. An id of dots alone would mean
// a folder to whoever stands between.
func segment(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}
