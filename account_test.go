package headcount_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/headcount-live/headcount"
)

// An id is any text without control characters; odd characters are its own business.
func TestCheckID(t *testing.T) {
	for _, ok := range []string{"a", "a/b", "a:b", "{x}", "100%", "ü😀 z", "..", strings.Repeat("x", 128), "\u00ad\u200b"} {
		if err := headcount.CheckID("account_id", ok, headcount.MaxIDLen); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", strings.Repeat("x", 129), "a\x00", "a\n", "\x7f", "a\u0085b", "\xff", "a\xc3"} {
		err := headcount.CheckID("account_id", bad, headcount.MaxIDLen)
		var e *headcount.Error
		if !errors.As(err, &e) || e.Code != headcount.CodeInvalidField || e.Field != "account_id" {
			t.Errorf("%q: got %v, want invalid_field that names account_id", bad, err)
		}
	}
}
