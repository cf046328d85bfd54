package headcount_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// Times are RFC 3339 UTC with exactly three decimals, whatever zone they came in.
func TestTimestampText(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-04T05:06:07Z":           `"2026-03-04T05:06:07.000Z"`,
		"2026-03-04T05:06:07.89Z":        `"2026-03-04T05:06:07.890Z"`,
		"2026-03-04T05:06:07.8909+02:00": `"2026-03-04T03:06:07.890Z"`,
	} {
		var at headcount.Timestamp
		if err := at.UnmarshalText([]byte(in)); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		got, err := json.Marshal(at)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, want)
		}
	}
	if headcount.At(time.UnixMilli(1234)).Time() != time.UnixMilli(1234).UTC() {
		t.Error("a moment does not come back")
	}
	if new(headcount.Timestamp).UnmarshalText([]byte("yesterday")) == nil {
		t.Error("nonsense was read as a time")
	}
}

// Metadata that was not given is null in the list that clients see.
func TestLeaseJSON(t *testing.T) {
	profile := "p1"
	got, err := json.Marshal(headcount.Lease{StreamID: "s", ProfileID: &profile, LapsesInSec: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"stream_id":"s","device_meta":null,"profile_id":"p1","title_id":null,` +
		`"started_at":"1970-01-01T00:00:00.000Z","last_seen":"1970-01-01T00:00:00.000Z","lapses_in_sec":7}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A reason is spelled one way in both directions.
func TestReasonText(t *testing.T) {
	for _, r := range []headcount.Reason{headcount.ReasonExpired, headcount.ReasonForceStopped, headcount.ReasonReplaced} {
		text, _ := r.MarshalText()
		var back headcount.Reason
		if err := back.UnmarshalText(text); err != nil || back != r {
			t.Errorf("%s came back as %v, %v", text, back, err)
		}
	}
	if new(headcount.Reason).UnmarshalText([]byte("bored")) == nil {
		t.Error("an unknown reason was accepted")
	}
}
