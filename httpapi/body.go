package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/headcount-live/headcount"
)

// Largest bodies, in bytes.
const (
	bodyLimit  = 16 << 10
	batchLimit = 1 << 20
)

// read takes the body of r into the exchange. It blocks for as long as the body
// takes to arrive, which the server's read timeout bounds. Of a body beyond the
// limit it reads no more than one byte too many.
func (x *exchange) read(r *http.Request, limit int) *headcount.Error {
	b := x.body[:0]
	if r.ContentLength == 0 || r.Body == nil {
		x.body = b
		return nil
	}
	if !jsonOrText(r.Header["Content-Type"]) {
		return headcount.Errorf(headcount.CodeUnsupportedMediaType,
			"send the body as application/json (or text/plain, as beacons do), not as %q", r.Header.Get("Content-Type"))
	}
	if r.ContentLength > int64(limit) {
		return tooLarge(limit)
	}
	b = slices.Grow(b, int(max(r.ContentLength, 512)))
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b))
		}
		n, err := r.Body.Read(b[len(b):min(cap(b), limit+1)])
		b = b[:len(b)+n]
		x.body = b
		switch {
		case len(b) > limit:
			return tooLarge(limit)
		case err == io.EOF:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return headcount.Errorf(headcount.CodeInvalidJSON, "the body did not arrive in time; send it at once")
		case err != nil:
			return headcount.Errorf(headcount.CodeInvalidJSON, "the body did not arrive whole: check Content-Length and chunks")
		}
	}
}

func tooLarge(limit int) *headcount.Error {
	return headcount.Errorf(headcount.CodeBodyTooLarge, "the body must have at most %d bytes", limit)
}

// jsonOrText reports whether a body of this type is read as JSON. Text is what
// navigator.sendBeacon can send without a preflight; no type at all is what a
// person with curl or a minimal client sends.
func jsonOrText(contentType []string) bool {
	if len(contentType) == 0 || contentType[0] == "application/json" {
		return true
	}
	media, _, _ := strings.Cut(contentType[0], ";")
	media = strings.Trim(media, " \t")
	return media == "" || strings.EqualFold(media, "application/json") || strings.EqualFold(media, "text/plain")
}
