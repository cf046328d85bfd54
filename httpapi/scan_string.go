package httpapi

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads the string whose opening quote is at pos and returns what it means.
func (s *scanner) str() (string, bool) {
	start := s.pos + 1
	end := s.plain(start)
	if end < len(s.buf) && s.buf[end] == '"' {
		s.pos = end + 1
		return view(s.buf[start:end]), true
	}
	return s.escaped(start, end)
}

// escaped reads on where the string that began at start has its first byte, at
// end, that does not stand for itself.
func (s *scanner) escaped(start, end int) (string, bool) {
	mark := len(s.scratch)
	for {
		s.scratch = append(s.scratch, s.buf[start:end]...)
		s.pos = end
		switch {
		case end == len(s.buf):
			return "", s.fail("a string does not end")
		case s.buf[end] == '"':
			s.pos++
			return view(s.scratch[mark:]), true
		case s.buf[end] != '\\':
			return "", s.fail("a string holds a raw control character; write it as \\u%04x", s.buf[end])
		}
		if !s.escape() {
			return "", false
		}
		start = s.pos
		end = s.plain(start)
	}
}

// escape reads the escape at pos into the scratch space.
func (s *scanner) escape() bool {
	s.pos++
	c := s.peek()
	s.pos++
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, ok := s.unicode()
		if ok {
			s.scratch = utf8.AppendRune(s.scratch, r)
		}
		return ok
	default:
		s.pos--
		return s.fail("a backslash is followed by no known escape")
	}
	s.scratch = append(s.scratch, c)
	return true
}

// unicode reads the four digits of a \u escape, and the low surrogate that must
// follow a high one.
func (s *scanner) unicode() (rune, bool) {
	r, ok := s.hex4()
	if !ok || !utf16.IsSurrogate(r) {
		return r, ok
	}
	if rest := s.buf[s.pos:]; len(rest) >= 2 && rest[0] == '\\' && rest[1] == 'u' {
		s.pos += 2
		low, ok := s.hex4()
		if !ok {
			return 0, false
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, true
		}
	}
	return 0, s.fail("a surrogate stands alone")
}

func (s *scanner) hex4() (rune, bool) {
	var r rune
	for range 4 {
		var d byte
		switch c := s.peek(); {
		case digit(c):
			d = c - '0'
		case 'a' <= c && c <= 'f':
			d = c - 'a' + 10
		case 'A' <= c && c <= 'F':
			d = c - 'A' + 10
		default:
			return 0, s.fail("a \\u escape needs four hexadecimal digits")
		}
		r = r<<4 | rune(d)
		s.pos++
	}
	return r, true
}

// plain returns the index of the first byte from i on that is a quote, a
// backslash or a control character, or the length of the body. It looks at eight
// bytes at once: the usual trick to find a zero byte in a word, which is exact
// for the lowest hit (Warren, Hacker's Delight, 6-1).
func (s *scanner) plain(i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	b := s.buf
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		hit := ((w-0x20*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
