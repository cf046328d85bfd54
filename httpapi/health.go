package httpapi

import (
	"context"
	"time"

	"github.com/headcount-live/headcount"
)

// healthy answers GET /healthz: the process runs and answers.
func (s *Server) healthy(_ context.Context, x *exchange) { x.done() }

// ready answers GET /readyz: send requests here, or, while draining, elsewhere.
func (s *Server) ready(_ context.Context, x *exchange) {
	if s.readers.draining() {
		x.fail(&headcount.Error{
			Code:       headcount.CodeUnavailable,
			Message:    "this node is shutting down; send requests to another",
			RetryAfter: 10 * time.Second,
		})
		return
	}
	x.done()
}
