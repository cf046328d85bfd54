package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// loadDocument reads the embedded OpenAPI document and checks it, its examples
// against their schemas included.
func loadDocument(tb testing.TB) *openapi3.T {
	tb.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(openAPIDocument))
	if err != nil {
		tb.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return doc
}

// The document describes every route of both listeners, and no other.
func TestDocumentHasEveryRoute(t *testing.T) {
	doc := loadDocument(t)
	s := newWorld(t).srv
	served := map[string]bool{}
	for _, rt := range append(s.publicRoutes(), s.adminRoutes()...) {
		for method := range strings.SplitSeq(rt.methods, " ") {
			served[method+" "+rt.pattern] = true
			item := doc.Paths.Value(rt.pattern)
			if item == nil || item.GetOperation(method) == nil {
				t.Errorf("%s %s is served and not described", method, rt.pattern)
			}
		}
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			if !served[method+" "+path] {
				t.Errorf("%s %s is described and not served", method, path)
			}
		}
	}
}

// checked is a transport that holds every answer to the OpenAPI document.
type checked struct {
	t     testing.TB
	doc   *openapi3.T
	table []route // of the listener that the transport talks to
}

func (c *checked) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || res.Header.Get("Content-Type") == "text/event-stream" {
		return res, err // the body of an event stream is the tests' own to check
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if err == nil {
		if fault := c.check(r, res, body); fault != nil {
			c.t.Errorf("%s %s -> %d %.400s: %s", r.Method, r.URL, res.StatusCode, body, fmt.Sprintf("%.400v", fault))
		}
	}
	return res, err
}

// check validates one answer against what the document says about its operation,
// or, for a path or method that has none, about such answers.
func (c *checked) check(r *http.Request, res *http.Response, body []byte) error {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
		if len(body) != 0 {
			return fmt.Errorf("an answer to HEAD has a body")
		}
	}
	pattern := c.pattern(r)
	item := c.doc.Paths.Value(pattern)
	if item == nil {
		return c.checkResponse(r, res, body, "NotFound", http.StatusNotFound)
	}
	operation := item.GetOperation(method)
	switch {
	case method == http.MethodOptions:
		if res.StatusCode != http.StatusNoContent || res.Header.Get("Allow") == "" {
			return fmt.Errorf("OPTIONS is not answered 204 with Allow")
		}
		return nil
	case operation == nil:
		return c.checkResponse(r, res, body, "MethodNotAllowed", http.StatusMethodNotAllowed)
	case r.Method == http.MethodHead || res.StatusCode == http.StatusNoContent:
		if operation.Responses.Status(res.StatusCode) == nil {
			return fmt.Errorf("status %d is not described", res.StatusCode)
		}
		return nil
	}
	return c.validate(r, res, body, pattern, item, operation)
}

// pattern finds the path of the document that the request means.
func (c *checked) pattern(r *http.Request) string {
	var root node
	for i := range c.table {
		root.add(&c.table[i])
	}
	var segs [maxSegments]string
	var args [maxArgs]string
	if n, ok := segments(r.URL, &segs); ok {
		if at := root.find(segs[:n], args[:]); at != nil {
			return at.routes[0].pattern
		}
	}
	return ""
}

func (c *checked) checkResponse(r *http.Request, res *http.Response, body []byte, name string, status int) error {
	if res.StatusCode != status {
		return fmt.Errorf("status %d, want %d", res.StatusCode, status)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	operation := &openapi3.Operation{Responses: openapi3.NewResponses(
		openapi3.WithStatus(status, c.doc.Components.Responses[name]))}
	return c.validate(r, res, body, "/", &openapi3.PathItem{}, operation)
}

func (c *checked) validate(r *http.Request, res *http.Response, body []byte, path string, item *openapi3.PathItem, operation *openapi3.Operation) error {
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r,
			Route:   &routers.Route{Spec: c.doc, Path: path, PathItem: item, Method: r.Method, Operation: operation},
		},
		Status: res.StatusCode,
		Header: res.Header,
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   strings.HasPrefix(res.Header.Get("Content-Type"), "text/html"), // which it cannot read
			MultiError:            true,
		},
	}
	input.SetBodyBytes(body)
	return openapi3filter.ValidateResponse(context.Background(), input)
}
