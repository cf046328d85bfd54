package load_test

import (
	"strings"
	"testing"

	"github.com/headcount-live/headcount/load"
)

// A mix says what it was parsed from, and one that cannot be names the part at
// fault.
func TestParseMix(t *testing.T) {
	for _, tt := range []struct {
		text, want, wantErr string
	}{
		{text: "play=1,renew=20,stop=1", want: "play=1,renew=20,stop=1"},
		{text: "count=3,beat=2,leave=1,list=0", want: "beat=2,leave=1,count=3"},
		{text: "renew", wantErr: `"renew"`},
		{text: "", wantErr: `""`},
		{text: "dance=1", wantErr: `"dance"`},
		{text: "play=-1", wantErr: `"-1"`},
		{text: "play=1e3", wantErr: `"1e3"`},
		{text: "play=99999", wantErr: `"99999"`},
		{text: "play=0", wantErr: "weighs nothing"},
	} {
		m, err := load.ParseMix(tt.text)
		switch {
		case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
			t.Errorf("ParseMix(%q) = %v, want an error with %s", tt.text, err, tt.wantErr)
		case tt.wantErr == "" && (err != nil || m.String() != tt.want):
			t.Errorf("ParseMix(%q) = %s, %v, want %s", tt.text, m, err, tt.want)
		}
	}
}
