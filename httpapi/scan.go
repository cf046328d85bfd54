package httpapi

import (
	"unicode/utf8"
	"unsafe"

	"github.com/headcount-live/headcount"
)

// maxDepth bounds how deeply a body may nest, so that skipping a value nobody
// asked for costs a bounded stack. No device_meta of 512 bytes nests deeper.
const maxDepth = 512

// kind is what a JSON value is.
type kind uint8

const (
	kindAbsent kind = iota // the key was not there
	kindNull
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	kindTwice // the key was there twice, in an object where that is no syntax error
)

// value is one JSON value. Its strings are views over the body or the scanner's
// scratch space and end with the exchange.
type value struct {
	kind kind
	text string // what a string means, its escapes resolved
	raw  string // the JSON text, as it came
	at   int    // where raw begins in the body
}

// scanner reads a JSON object in one pass, stricter than encoding/json: invalid
// UTF-8, lone surrogates and repeated top-level keys are errors. It allocates
// only for errors and for objects with many unknown keys.
type scanner struct {
	buf     []byte
	pos     int
	scratch []byte // strings that had escapes
	seen    keySet
	err     *headcount.Error
}

// object reads body, which must be one JSON object and nothing else. index maps
// a key to its place in fields, or to -1 for a key that is ignored. The error,
// if any, has CodeInvalidJSON.
func (s *scanner) object(body []byte, index func(key string) int, fields []value) *headcount.Error {
	s.buf, s.pos, s.scratch, s.err = body, 0, s.scratch[:0], nil
	s.seen.reset()
	clear(fields)
	if !utf8.Valid(body) {
		s.fail("it is not UTF-8")
		return s.err
	}
	s.space()
	if s.peek() != '{' {
		s.fail("a JSON object is expected")
		return s.err
	}
	if !s.members(index, fields, true) {
		return s.err
	}
	s.space()
	if s.pos != len(s.buf) {
		s.fail("something follows the JSON object")
	}
	return s.err
}

// members reads the object that begins at pos. A key given twice is a syntax
// error where unique is set; elsewhere a known one is kindTwice.
func (s *scanner) members(index func(key string) int, fields []value, unique bool) bool {
	s.pos++ // the brace
	s.space()
	if s.peek() == '}' {
		s.pos++
		return true
	}
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		i := index(key)
		switch {
		case i < 0 && unique && !s.seen.add(key):
			return s.fail("the key %q is given twice", key)
		case i < 0:
			ok = s.skip(1)
		case fields[i].kind == kindAbsent:
			ok = s.value(&fields[i])
		case unique:
			return s.fail("the key %q is given twice", key)
		default:
			ok = s.skip(1)
			fields[i] = value{kind: kindTwice}
		}
		if !ok {
			return false
		}
		if more, ok := s.next('}'); !more {
			return ok
		}
	}
}

// key reads a key and its colon, up to the first byte of the value.
func (s *scanner) key() (string, bool) {
	if s.peek() != '"' {
		return "", s.fail("a key in double quotes is expected")
	}
	key, ok := s.str()
	if !ok {
		return "", false
	}
	s.space()
	if s.peek() != ':' {
		return "", s.fail("a colon is expected")
	}
	s.pos++
	s.space()
	return key, true
}

// next reads what stands between two members or elements: more is false at the
// closing byte, which it takes, and at an error.
func (s *scanner) next(closing byte) (more, ok bool) {
	s.space()
	switch s.peek() {
	case closing:
		s.pos++
		return false, true
	case ',':
		s.pos++
		s.space()
		return true, true
	}
	return false, s.fail("a comma or %q is expected", closing)
}

// value reads the member's value at pos into v.
func (s *scanner) value(v *value) bool {
	start := s.pos
	var ok bool
	switch s.peek() {
	case '"':
		v.kind = kindString
		v.text, ok = s.str()
	case '{':
		v.kind, ok = kindObject, s.skip(1)
	case '[':
		v.kind, ok = kindArray, s.skip(1)
	case 't', 'f':
		v.kind, ok = kindBool, s.skip(1)
	case 'n':
		v.kind, ok = kindNull, s.skip(1)
	default:
		v.kind, ok = kindNumber, s.skip(1)
	}
	v.raw, v.at = view(s.buf[start:s.pos]), start
	return ok
}

// space moves over white space.
func (s *scanner) space() {
	for s.pos < len(s.buf) {
		switch s.buf[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the byte at pos, 0 at the end: a NUL byte is no JSON anyway.
func (s *scanner) peek() byte {
	if s.pos < len(s.buf) {
		return s.buf[s.pos]
	}
	return 0
}

// fail keeps the first error and returns false.
func (s *scanner) fail(format string, args ...any) bool {
	if s.err == nil {
		what := headcount.Errorf("", format, args...).Message
		s.err = headcount.Errorf(headcount.CodeInvalidJSON, "the body is not valid JSON: at byte %d, %s", s.pos, what)
	}
	return false
}

// view returns b as a string without copying it. The caller lets nothing keep
// the string beyond the life of b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
