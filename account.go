package headcount

import (
	"unicode"
	"unicode/utf8"
)

// Limits of the ids and values that callers choose, in bytes of UTF-8.
const (
	MaxIDLen         = 128 // account, device, device key, profile, title, session
	MaxPageIDLen     = 256
	MaxDeviceMetaLen = 512 // as JSON text, quotes included
)

// CheckID reports why s cannot be an id of at most limit bytes, as an [Error]
// with [CodeInvalidField], or nil. An id is any UTF-8 of at least one byte
// without control characters (Unicode Cc).
func CheckID(field, s string, limit int) error {
	switch {
	case s == "":
		return FieldError(CodeInvalidField, field, "%s must not be empty", field)
	case len(s) > limit:
		return FieldError(CodeInvalidField, field, "%s is %d bytes long; at most %d are allowed", field, len(s), limit)
	}
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c < 0x7f { // the common case costs one compare a byte
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return FieldError(CodeInvalidField, field, "%s is not valid UTF-8", field)
		}
		if unicode.Is(unicode.Cc, r) {
			return FieldError(CodeInvalidField, field, "%s holds a control character (U+%04X)", field, r)
		}
		i += n
	}
	return nil
}
