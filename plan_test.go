package headcount_test

import (
	"errors"
	"testing"

	"github.com/headcount-live/headcount"
)

// A row's own limit always wins; a name that has left the catalogue never denies.
func TestCatalogueLimit(t *testing.T) {
	c := headcount.DefaultCatalogue()
	zero, nine := 0, 9
	for _, tt := range []struct {
		row  headcount.Plan
		want int
	}{
		{headcount.Plan{Plan: "basic"}, 1},
		{headcount.Plan{Plan: "standard"}, 2},
		{headcount.Plan{Plan: "premium"}, 4},
		{headcount.Plan{Plan: "basic", MaxStreams: &nine}, 9},
		{headcount.Plan{Plan: "premium", MaxStreams: &zero}, 0},
		{headcount.Plan{Plan: "gone"}, 4},
	} {
		if got := c.Limit(tt.row); got != tt.want {
			t.Errorf("%+v: got %d, want %d", tt.row, got, tt.want)
		}
	}
}

// A row that cannot be stored is refused by the name of the field at fault.
func TestPlanCheck(t *testing.T) {
	c := headcount.DefaultCatalogue()
	limit := func(n int) *int { return &n }
	for _, tt := range []struct {
		row   headcount.Plan
		field string
	}{
		{headcount.Plan{AccountID: "a", Plan: "basic", Status: "active"}, ""},
		{headcount.Plan{AccountID: "a", Plan: "custom", MaxStreams: limit(64), Status: "paused"}, ""},
		{headcount.Plan{AccountID: "", Plan: "basic", Status: "active"}, "account_id"},
		{headcount.Plan{AccountID: "a", Plan: "", Status: "active"}, "plan"},
		{headcount.Plan{AccountID: "a", Plan: "custom", Status: "active"}, "plan"},
		{headcount.Plan{AccountID: "a", Plan: "basic", Status: "asleep"}, "status"},
		{headcount.Plan{AccountID: "a", Plan: "basic", MaxStreams: limit(65), Status: "active"}, "max_streams"},
		{headcount.Plan{AccountID: "a", Plan: "basic", MaxStreams: limit(-1), Status: "active"}, "max_streams"},
	} {
		err := tt.row.Check(c)
		var e *headcount.Error
		if errors.As(err, &e); (e == nil) != (tt.field == "") || e != nil && e.Field != tt.field {
			t.Errorf("%+v: got %v, want field %q", tt.row, err, tt.field)
		}
	}
}

// The public message is shown, the private cause only to whoever unwraps.
func TestErrorKeepsItsCausePrivate(t *testing.T) {
	cause := errors.New("dial: refused")
	err := headcount.Unavailable(cause)
	if !errors.Is(err, cause) || headcount.ErrorCode(err) != headcount.CodeUnavailable || err.RetryAfter <= 0 {
		t.Errorf("got %#v", err)
	}
	if headcount.ErrorCode(nil) != "" || headcount.ErrorCode(cause) != headcount.CodeUnavailable {
		t.Error("an unknown failure must count as ours")
	}
}
