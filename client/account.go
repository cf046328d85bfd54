package client

import (
	"context"
	"net/http"
)

// The routes of an account are the same on both listeners, below their own path.

func (s *server) list(ctx context.Context, account string) (Listing, error) {
	var answer Listing
	err := s.call(ctx, http.MethodGet, account+"/streams", nil, &answer)
	return answer, err
}

func (s *server) forceStop(ctx context.Context, account, streamID string) error {
	return s.call(ctx, http.MethodPost, account+"/streams/"+segment(streamID)+"/force-stop", nil, nil)
}

func (s *server) forceStopAll(ctx context.Context, account string) (int, error) {
	var answer struct {
		Stopped int `json:"stopped"`
	}
	err := s.call(ctx, http.MethodPost, account+"/force-stop", nil, &answer)
	return answer.Stopped, err
}
