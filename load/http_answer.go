package load

import (
	"bytes"
	"errors"
)

// answer is what the generator needs of an HTTP response.
type answer struct {
	status int
	body   []byte // a view into the buffer it was parsed from
	close  bool   // the server will close the connection
}

// Reasons why bytes are not an answer that the generator can read.
var (
	errNotHTTP   = errors.New("not an HTTP/1.1 response")
	errNoLength  = errors.New("a response without Content-Length or chunks")
	errBadLength = errors.New("a malformed Content-Length")
	errBadChunk  = errors.New("a malformed chunk")
)

const (
	maxBody = 8 << 20 // bounds a body, so that a length that is a lie cannot ask for memory
	maxLine = 8 << 10 // bounds a status line
)

// parseAnswer reads the response that begins buf and returns how many bytes it
// takes, 0 if it has not all arrived. The parts of a chunked body are moved
// together within buf once they are all there.
func parseAnswer(buf []byte) (a answer, n int, err error) {
	a.status, n, err = parseStatus(buf)
	if n == 0 || err != nil {
		return a, 0, err
	}
	h, used, err := parseHeaders(buf[n:])
	if used == 0 || err != nil {
		return a, 0, err
	}
	n += used
	a.close = h.close
	switch {
	case a.status < 200: // an interim response; the real one follows
		next, used, err := parseAnswer(buf[n:])
		if used > 0 {
			used += n
		}
		return next, used, err
	case a.status == 204 || a.status == 304:
		return a, n, nil
	case h.chunked:
		body, used, err := parseChunks(buf[n:])
		if used == 0 || err != nil {
			return a, 0, err
		}
		a.body = body
		return a, n + used, nil
	case h.length < 0:
		return a, 0, errNoLength
	case len(buf)-n < h.length:
		return a, 0, nil
	}
	a.body = buf[n : n+h.length]
	return a, n + h.length, nil
}

// parseStatus reads the status line and returns how many bytes it takes, 0 if it
// has not all arrived.
func parseStatus(buf []byte) (status, n int, err error) {
	const version = "HTTP/1.1 "
	if got := min(len(buf), len(version)); string(buf[:got]) != version[:got] {
		return 0, 0, errNotHTTP
	}
	end := bytes.IndexByte(buf, '\n')
	if end < 0 {
		if len(buf) > maxLine {
			return 0, 0, errNotHTTP
		}
		return 0, 0, nil
	}
	if end < len(version)+3 {
		return 0, 0, errNotHTTP
	}
	for _, c := range buf[len(version) : len(version)+3] {
		if c < '0' || c > '9' {
			return 0, 0, errNotHTTP
		}
		status = status*10 + int(c-'0')
	}
	if status < 100 {
		return 0, 0, errNotHTTP
	}
	return status, end + 1, nil
}

// framing is what the headers say about where the body ends.
type framing struct {
	length  int // -1 if not given
	chunked bool
	close   bool
}

// parseHeaders reads header lines and returns how many bytes they take with the
// empty line that ends them, 0 if that has not arrived.
func parseHeaders(buf []byte) (f framing, n int, err error) {
	f.length = -1
	for {
		end := bytes.IndexByte(buf[n:], '\n')
		if end < 0 {
			return f, 0, nil
		}
		line := bytes.TrimSuffix(buf[n:n+end], []byte("\r"))
		n += end + 1
		if len(line) == 0 {
			return f, n, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case hasName(name, "content-length"):
			if f.length, err = parseLength(value, 10); err != nil {
				return f, 0, errBadLength
			}
		case hasName(name, "transfer-encoding"):
			f.chunked = bytes.EqualFold(value, []byte("chunked"))
		case hasName(name, "connection"):
			f.close = bytes.EqualFold(value, []byte("close"))
		}
	}
}

// hasName compares lengths first: most headers are none of ours.
func hasName(name []byte, want string) bool {
	return len(name) == len(want) && bytes.EqualFold(name, []byte(want))
}

// parseChunks reads a chunked body from buf to its last line, and returns the
// body and how many bytes it took, 0 if it has not all arrived.
func parseChunks(buf []byte) (body []byte, n int, err error) {
	n, err = walkChunks(buf, func([]byte) {})
	if n == 0 || err != nil {
		return nil, 0, err
	}
	body = buf[:0] // chunks only ever move towards the front
	_, err = walkChunks(buf[:n], func(chunk []byte) { body = append(body, chunk...) })
	return body, n, err
}

// walkChunks calls visit with each chunk's data. visit may overwrite what it has
// been handed so far, and nothing behind it.
func walkChunks(buf []byte, visit func([]byte)) (n int, err error) {
	for {
		end := bytes.IndexByte(buf[n:], '\n')
		if end < 0 {
			return 0, nil
		}
		size, _, _ := bytes.Cut(bytes.TrimSuffix(buf[n:n+end], []byte("\r")), []byte(";"))
		length, err := parseLength(bytes.TrimSpace(size), 16)
		if err != nil {
			return 0, errBadChunk
		}
		n += end + 1
		if length == 0 {
			_, trailer, err := parseHeaders(buf[n:])
			if trailer == 0 || err != nil {
				return 0, err
			}
			return n + trailer, nil
		}
		if len(buf)-n < length+len("\r\n") {
			return 0, nil
		}
		if string(buf[n+length:n+length+2]) != "\r\n" {
			return 0, errBadChunk
		}
		visit(buf[n : n+length])
		n += length + len("\r\n")
	}
}

// parseLength reads a number of bytes, at most maxBody.
func parseLength(text []byte, base int) (length int, err error) {
	for _, c := range text {
		digit := 16
		switch {
		case '0' <= c && c <= '9':
			digit = int(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			digit = int(c|0x20-'a') + 10
		}
		if digit >= base {
			return 0, errBadLength
		}
		if length = length*base + digit; length > maxBody {
			return 0, errBadLength
		}
	}
	if len(text) == 0 {
		return 0, errBadLength
	}
	return length, nil
}
