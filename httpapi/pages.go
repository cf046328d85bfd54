package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/headcount-live/headcount"
)

// viewerCount answers GET /api/v1/pages/{page_id}/viewer-count.
func (s *Server) viewerCount(ctx context.Context, x *exchange) {
	page := x.args[0]
	if err := headcount.CheckID("page_id", page, headcount.MaxPageIDLen); err != nil {
		x.fail(err)
		return
	}
	count := s.crowd.Count(ctx, page)
	x.out = appendCount(x.out[:0], &count, true)
	s.cacheable(x, s.etag(&count), count.Degraded)
}

// readyTags is how many counts have their ETag ready, so that a read of any but
// the hottest pages allocates nothing.
const readyTags = 1024

func newETags() [][]string {
	tags := make([][]string, readyTags)
	for i := range tags {
		tags[i] = weakTag(appendTag(nil, &headcount.PageCount{Count: int64(i)}))
	}
	return tags
}

// etag returns the header value of a count's ETag.
func (s *Server) etag(c *headcount.PageCount) []string {
	if !c.Approx && !c.Degraded && c.Count < readyTags {
		return s.etags[c.Count]
	}
	var tag [32]byte
	return weakTag(appendTag(tag[:0], c))
}

// weakTag makes the value of an ETag header, a weak one because ts is not in it.
func weakTag(tag []byte) []string { return []string{`W/"` + string(tag) + `"`} }

// cacheable gives the answer its cache headers, and turns it into a 304 for a
// client that has it.
func (s *Server) cacheable(x *exchange, etag []string, degraded bool) {
	x.reply["Etag"] = etag
	x.reply["Cache-Control"] = s.maxAge
	if degraded {
		x.reply["Cache-Control"] = s.maxAgeDegraded
	}
	x.ok()
	if noneMatch(x.header["If-None-Match"], etag[0][len("W/"):]) {
		x.status, x.out = http.StatusNotModified, x.out[:0]
	}
}

// noneMatch reports whether If-None-Match names the tag, by the weak comparison
// of RFC 9110, section 13.1.2.
func noneMatch(header []string, quoted string) bool {
	for _, line := range header {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimPrefix(strings.Trim(one, " \t"), "W/")
			if one == quoted || one == "*" {
				return true
			}
		}
	}
	return false
}

// appendTag appends what identifies a count: everything that is answered but ts
// follows from it.
func appendTag(b []byte, c *headcount.PageCount) []byte {
	if c.Degraded {
		return c.AppendBucket(b)
	}
	b = strconv.AppendInt(b, c.Count, 10)
	if c.Approx {
		b = append(b, '~')
	}
	return b
}

// appendCount appends the JSON of a count. What an event says of its page has no
// ts and no error_pct: it is not for archives.
func appendCount(b []byte, c *headcount.PageCount, whole bool) []byte {
	b = append(b, '{')
	if c.PageID != "" {
		b = append(appendString(append(b, `"page_id":`...), c.PageID), ',')
	}
	b = append(b, `"count":`...)
	if c.Degraded {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, c.Count, 10)
	}
	b = append(c.AppendBucket(append(b, `,"bucket":"`...)), '"')
	b = append(c.AppendDisplay(append(b, `,"display":"`...)), '"')
	if c.Degraded {
		b = append(b, `,"degraded":true`...)
	} else {
		b = strconv.AppendBool(append(b, `,"approx":`...), c.Approx)
	}
	if whole {
		if c.Approx {
			b = strconv.AppendFloat(append(b, `,"error_pct":`...), c.ErrorPct, 'f', -1, 64)
		}
		b = strconv.AppendInt(append(b, `,"ts":`...), c.TS, 10)
	}
	return append(b, '}')
}
