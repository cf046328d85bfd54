package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/headcount-live/headcount"
)

// maxAnswer bounds what is read of an answer, in bytes: far above the largest
// there is, far below what something that is not headcount could send.
const maxAnswer = 4 << 20

// server is one listener of a headcount server.
type server struct {
	base  string
	http  *http.Client
	token string
}

// call sends body as JSON, unless it is nil, and reads a 2xx answer into answer,
// unless that is nil. Anything else becomes an error.
func (s *server) call(ctx context.Context, method, path string, body, answer any) error {
	request, err := s.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	response, err := s.http.Do(request)
	if err != nil {
		return s.unreachable(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return s.unreachable(err)
	}
	if response.StatusCode/100 != 2 {
		return s.refusal(response, text)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return s.stranger(response, err)
	}
	return nil
}

func (s *server) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var text bytes.Buffer
	if body != nil {
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // device_meta comes back as it was sent
		if err := encoder.Encode(body); err != nil {
			return nil, unsendable(err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.base+path, &text)
	if err != nil {
		return nil, unsendable(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	return request, nil
}

// unsendable blames the caller, as the server would: device_meta is the one
// value of a request that may not be JSON.
func unsendable(err error) error {
	if malformed := (*json.MarshalerError)(nil); errors.As(err, &malformed) {
		return &headcount.Error{
			Code:    headcount.CodeInvalidField,
			Field:   "device_meta",
			Message: "device_meta must be the JSON text of a string or an object",
			Err:     err,
		}
	}
	return &headcount.Error{Code: headcount.CodeInvalidJSON, Message: "the request cannot be written", Err: err}
}
