package client

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/headcount-live/headcount"
)

// errorBody is every error answer there is: a code, a message, and the facts
// that some codes have.
type errorBody struct {
	Code    headcount.Code `json:"error"`
	Message string         `json:"message"`
	Field   string         `json:"field"`
	headcount.Denied
	headcount.Ended
}

// refusal rebuilds the error that the server answered with.
func (s *server) refusal(response *http.Response, text []byte) error {
	var body errorBody
	if err := json.Unmarshal(text, &body); err != nil || body.Code == "" {
		return s.stranger(response, err)
	}
	e := &headcount.Error{
		Code:       body.Code,
		Message:    body.Message,
		Field:      body.Field,
		RetryAfter: retryAfter(response.Header),
	}
	switch body.Code {
	case headcount.CodeStreamLimit:
		e.Denied = &body.Denied
	case headcount.CodeStreamStopped:
		e.Ended = &body.Ended
	}
	return e
}

// stranger is the error of an answer that headcount would not give: a proxy's
// page, or another service at that address.
func (s *server) stranger(response *http.Response, cause error) error {
	e := headcount.Errorf(headcount.CodeUnavailable,
		"%s answered %q, which is no answer of headcount; check the address and what stands in front of it",
		s.base, response.Status)
	e.RetryAfter, e.Err = retryAfter(response.Header), cause
	return e
}

// unreachable is the error of a server that did not answer, or not to the end.
func (s *server) unreachable(cause error) error {
	e := headcount.Errorf(headcount.CodeUnavailable,
		"no answer from %s; check that headcount is running and listens there", s.base)
	e.Err = cause
	return e
}

// retryAfter reads the header in its form of whole seconds, the one headcount
// uses; 0 where there is none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
