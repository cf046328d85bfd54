package httpapi

// skip moves over the value at pos, which lies depth levels deep, and checks
// every byte of it.
func (s *scanner) skip(depth int) bool {
	switch c := s.peek(); {
	case c == '"':
		return s.skipString()
	case c == '{':
		return s.skipObject(depth + 1)
	case c == '[':
		return s.skipArray(depth + 1)
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	case c == '-' || digit(c):
		return s.number()
	}
	return s.fail("a value is expected")
}

func (s *scanner) skipObject(depth int) bool {
	if depth > maxDepth {
		return s.fail("values nest more than %d deep", maxDepth)
	}
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return true
	}
	for {
		mark := len(s.scratch)
		if _, ok := s.key(); !ok {
			return false
		}
		s.scratch = s.scratch[:mark]
		if !s.skip(depth) {
			return false
		}
		if more, ok := s.next('}'); !more {
			return ok
		}
	}
}

func (s *scanner) skipArray(depth int) bool {
	if depth > maxDepth {
		return s.fail("values nest more than %d deep", maxDepth)
	}
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return true
	}
	for {
		if !s.skip(depth) {
			return false
		}
		if more, ok := s.next(']'); !more {
			return ok
		}
	}
}

func (s *scanner) skipString() bool {
	mark := len(s.scratch)
	_, ok := s.str()
	s.scratch = s.scratch[:mark]
	return ok
}

func (s *scanner) literal(word string) bool {
	if rest := s.buf[s.pos:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		return s.fail("a value is expected")
	}
	s.pos += len(word)
	return true
}

// number moves over a number as RFC 8259 spells it: no plus, no leading zero.
func (s *scanner) number() bool {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return true
}

// digits moves over one digit or more.
func (s *scanner) digits() bool {
	start := s.pos
	for digit(s.peek()) {
		s.pos++
	}
	if s.pos == start {
		return s.fail("a digit is expected")
	}
	return true
}

func digit(c byte) bool { return c-'0' <= 9 }
