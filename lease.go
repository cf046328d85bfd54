package headcount

import (
	"encoding/json"
	"fmt"
	"time"
)

// Lease is one live stream of an account, as stores return it and as the API
// lists it.
type Lease struct {
	ID          LeaseID         `json:"-"`
	StreamID    string          `json:"stream_id"` // ID with its MAC; stores leave it empty
	DeviceMeta  json.RawMessage `json:"device_meta"`
	ProfileID   *string         `json:"profile_id"`
	TitleID     *string         `json:"title_id"`
	StartedAt   Timestamp       `json:"started_at"`
	LastSeen    Timestamp       `json:"last_seen"`
	LapsesInSec int             `json:"lapses_in_sec"` // when the slot frees itself if the device stays silent, rounded up
}

// Metadata is what a player says about itself. Empty parts were not given. The
// service returns it as it came and never reads it.
type Metadata struct {
	DeviceMeta string // JSON text of a string or an object
	ProfileID  string
	TitleID    string
}

// Empty reports whether no part was given.
func (m Metadata) Empty() bool { return m == Metadata{} }

// Reason says why a lease ended.
type Reason uint8

// The reasons of an end. A lease that lapsed leaves no tombstone.
const (
	ReasonExpired      Reason = iota // the holder fell silent for one TTL
	ReasonForceStopped               // somebody kicked it, or chose it for replace_stream_id
	ReasonReplaced                   // the same device pressed play again
)

var reasonNames = [...]string{"expired", "force_stopped", "replaced"}

// String returns the reason as the API spells it.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("Reason(%d)", r)
}

// MarshalText writes the reason as the API spells it.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a reason as the API spells it.
func (r *Reason) UnmarshalText(text []byte) error {
	for i, name := range reasonNames {
		if name == string(text) {
			*r = Reason(i)
			return nil
		}
	}
	return fmt.Errorf("headcount: unknown reason %q", text)
}

// Ended says how, when and by whom a lease was ended.
type Ended struct {
	Reason    Reason          `json:"reason"`
	StoppedAt Timestamp       `json:"stopped_at"`
	By        json.RawMessage `json:"by,omitempty"` // device_meta of the device that took over
}

// Timestamp is a moment in Unix milliseconds, written as RFC 3339 UTC with
// milliseconds.
type Timestamp int64

const timestampLayout = "2006-01-02T15:04:05.000Z"

// At returns t in milliseconds.
func At(t time.Time) Timestamp { return Timestamp(t.UnixMilli()) }

// Time returns the moment in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Append writes the moment to b without quotes.
func (t Timestamp) Append(b []byte) []byte { return t.Time().AppendFormat(b, timestampLayout) }

// String returns the moment as RFC 3339 UTC with milliseconds.
func (t Timestamp) String() string { return string(t.Append(nil)) }

// MarshalText writes the moment as RFC 3339 UTC with milliseconds.
func (t Timestamp) MarshalText() ([]byte, error) { return t.Append(nil), nil }

// UnmarshalText reads any RFC 3339 moment; what is below a millisecond is cut.
func (t *Timestamp) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return err
	}
	*t = At(at)
	return nil
}
