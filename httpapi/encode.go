package httpapi

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/headcount-live/headcount"
)

// appendString appends s as a JSON string. What is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[start:i]...)
				b = append(b, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		case c < 0x20 || c == 0x7f:
			b = append(b, s[start:i]...)
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			start = i + 1
		case c == '"' || c == '\\':
			b = append(b, s[start:i]...)
			b = append(b, '\\', c)
			start = i + 1
		}
		i++
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// appendSeconds appends d in seconds: an integer when whole.
func appendSeconds(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, d.Seconds(), 'f', -1, 64)
}

// appendListing appends the two members that a denial and a listing share.
func appendListing(b []byte, limit int, active []headcount.Lease) []byte {
	b = append(b, `"limit":`...)
	b = strconv.AppendInt(b, int64(limit), 10)
	b = append(b, `,"active":[`...)
	for i := range active {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendLease(b, &active[i])
	}
	return append(b, ']')
}

func appendLease(b []byte, l *headcount.Lease) []byte {
	b = append(b, `{"stream_id":`...)
	b = appendString(b, l.StreamID)
	b = append(b, `,"device_meta":`...)
	if len(l.DeviceMeta) > 0 {
		b = append(b, l.DeviceMeta...)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"profile_id":`...)
	b = appendOptional(b, l.ProfileID)
	b = append(b, `,"title_id":`...)
	b = appendOptional(b, l.TitleID)
	b = append(b, `,"started_at":"`...)
	b = l.StartedAt.Append(b)
	b = append(b, `","last_seen":"`...)
	b = l.LastSeen.Append(b)
	b = append(b, `","lapses_in_sec":`...)
	b = strconv.AppendInt(b, int64(l.LapsesInSec), 10)
	return append(b, '}')
}

func appendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return appendString(b, *s)
}

// retryAfter returns d in whole seconds, at least one, as the header wants it.
func retryAfter(d time.Duration) string {
	return strconv.FormatInt(max(1, int64((d+time.Second-1)/time.Second)), 10)
}
