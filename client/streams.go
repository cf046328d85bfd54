package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/headcount-live/headcount"
)

// PlayRequest asks to start a stream. Empty fields but the first two are left out.
type PlayRequest struct {
	AccountID       string          `json:"account_id"`
	DeviceID        string          `json:"device_id"`
	DeviceKey       string          `json:"device_key,omitempty"`
	ProfileID       string          `json:"profile_id,omitempty"`
	TitleID         string          `json:"title_id,omitempty"`
	DeviceMeta      json.RawMessage `json:"device_meta,omitempty"` // a string or an object
	ReplaceStreamID string          `json:"replace_stream_id,omitempty"`
}

// Play is a stream that may start.
type Play struct {
	StreamID          string
	LeaseTTL          time.Duration // the stream ends when it stays silent this long
	HeartbeatInterval time.Duration // beat this often, give or take a tenth
	Degraded          bool          // decided without the live-state store
}

// Play starts a stream. A play that finds no room is a [*headcount.Error] with
// [headcount.CodeStreamLimit] whose Denied says who holds the slots.
func (c *Client) Play(ctx context.Context, r PlayRequest) (Play, error) {
	var answer struct {
		StreamID string `json:"stream_id"`
		Degraded bool   `json:"degraded"`
		terms
	}
	if err := c.call(ctx, http.MethodPost, "/v1/streams", r, &answer); err != nil {
		return Play{}, err
	}
	return Play{
		StreamID:          answer.StreamID,
		LeaseTTL:          seconds(answer.LeaseTTL),
		HeartbeatInterval: seconds(answer.HeartbeatInterval),
		Degraded:          answer.Degraded,
	}, nil
}

// HeartbeatRequest proves that a player is alive. The optional parts replace what
// the play-start said about it.
type HeartbeatRequest struct {
	AccountID  string          `json:"account_id"`
	ProfileID  string          `json:"profile_id,omitempty"`
	TitleID    string          `json:"title_id,omitempty"`
	DeviceMeta json.RawMessage `json:"device_meta,omitempty"` // a string or an object
}

// Beat is a stream that goes on, on terms that may have changed.
type Beat struct {
	LeaseTTL          time.Duration
	HeartbeatInterval time.Duration
	Reregistered      bool // the service had lost the stream: repeat its metadata in the next beat
}

// Heartbeat keeps a stream alive. After [headcount.CodeLeaseExpired] the player
// presses play again; after [headcount.CodeStreamStopped], whose Ended says why,
// it stops.
func (c *Client) Heartbeat(ctx context.Context, streamID string, r HeartbeatRequest) (Beat, error) {
	var answer struct {
		Reregistered bool `json:"re_registered"`
		terms
	}
	if err := c.call(ctx, http.MethodPut, "/v1/streams/"+segment(streamID)+"/heartbeat", r, &answer); err != nil {
		return Beat{}, err
	}
	return Beat{
		LeaseTTL:          seconds(answer.LeaseTTL),
		HeartbeatInterval: seconds(answer.HeartbeatInterval),
		Reregistered:      answer.Reregistered,
	}, nil
}

// Release ends a stream that its player has stopped. It succeeds for one that is
// gone already.
func (c *Client) Release(ctx context.Context, account, streamID string) error {
	body := struct {
		AccountID string `json:"account_id"`
	}{account}
	return c.call(ctx, http.MethodPost, "/v1/streams/"+segment(streamID)+"/release", body, nil)
}

// Listing is what an account plays now, and how much it may.
type Listing struct {
	Limit  int               `json:"limit"`
	Active []headcount.Lease `json:"active"` // oldest first
}

// Streams lists the live streams of an account.
func (c *Client) Streams(ctx context.Context, account string) (Listing, error) {
	return c.list(ctx, "/v1/accounts/"+segment(account))
}

// ForceStop ends a stream of the account; its player is told so. Error:
// [headcount.CodeStreamNotFound] for one that is not live.
func (c *Client) ForceStop(ctx context.Context, account, streamID string) error {
	return c.forceStop(ctx, "/v1/accounts/"+segment(account), streamID)
}

// ForceStopAll ends all streams of the account and returns how many there were.
func (c *Client) ForceStopAll(ctx context.Context, account string) (int, error) {
	return c.forceStopAll(ctx, "/v1/accounts/"+segment(account))
}

// terms is what every answer that keeps a stream alive says, in seconds.
type terms struct {
	LeaseTTL          float64 `json:"lease_ttl_sec"`
	HeartbeatInterval float64 `json:"heartbeat_interval_sec"`
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
