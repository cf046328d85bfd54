package httpapi

import (
	"context"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/headcount-live/headcount"
)

// maxGrid is the most pages that one read may name.
const maxGrid = 100

// viewerCounts answers GET and POST /api/v1/pages/viewer-count:batch.
func (s *Server) viewerCounts(ctx context.Context, x *exchange) {
	pages, fault := x.grid()
	if fault != nil {
		x.fail(fault)
		return
	}
	detail, _ := queryValue(x.query, "detail")
	var tag [32]byte
	sum := fnv.New64a() // the same on every node, so that any may answer 304
	_, _ = sum.Write([]byte(detail))
	degraded := false
	x.out = append(x.out[:0], '{')
	for i, page := range pages {
		count := s.crowd.Count(ctx, page)
		degraded = degraded || count.Degraded
		// The ids too: those of a POST are not in its URL. No id holds a NUL byte.
		_, _ = sum.Write(append(append(append(tag[:0], 0), page...), 0))
		_, _ = sum.Write(appendTag(tag[:0], &count))
		if i > 0 {
			x.out = append(x.out, ',')
		}
		x.out = append(appendString(x.out, page), ':')
		switch {
		case detail == "1":
			x.out = appendCount(x.out, &count, true)
		case count.Degraded:
			x.out = append(x.out, "null"...)
		default:
			x.out = strconv.AppendInt(x.out, count.Count, 10)
		}
	}
	x.out = append(x.out, '}')
	s.cacheable(x, weakTag(strconv.AppendUint(tag[:0], sum.Sum64(), 36)), degraded)
}

// grid returns the pages that the body or the query names, each once, in order.
func (x *exchange) grid() ([]string, *headcount.Error) {
	var pages []string
	var fault *headcount.Error
	if x.request.Method == http.MethodPost {
		pages, fault = x.bodyPages()
	} else {
		pages = queryPages(x.query)
	}
	switch {
	case fault != nil:
		return nil, fault
	case len(pages) == 0:
		return nil, headcount.FieldError(headcount.CodeMissingField, "ids", "ids is required; name 1 to %d pages", maxGrid)
	case len(pages) > maxGrid:
		return nil, headcount.FieldError(headcount.CodeInvalidField, "ids", "ids names more than %d pages; split them over several calls", maxGrid)
	}
	unique := pages[:0]
	for _, page := range pages {
		if err := headcount.CheckID("ids", page, headcount.MaxPageIDLen); err != nil {
			return nil, asError(err)
		}
		if !slices.Contains(unique, page) {
			unique = append(unique, page)
		}
	}
	return unique, nil
}

// queryPages splits the raw query at commas before it decodes, so that a comma in
// a page id can be written as %2C.
func queryPages(query string) (pages []string) {
	for pair := range strings.SplitSeq(query, "&") {
		key, list, _ := strings.Cut(pair, "=")
		if decodeQuery(key) != "ids" || list == "" {
			continue
		}
		for page := range strings.SplitSeq(list, ",") {
			if len(pages) > maxGrid {
				return pages // too many already: the answer says so
			}
			pages = append(pages, decodeQuery(page))
		}
	}
	return pages
}

// bodyPages decodes {"ids": [...]}. Its strings are views that end with the exchange.
func (x *exchange) bodyPages() (pages []string, fault *headcount.Error) {
	var bad *headcount.Error
	fault = x.items("ids", "an array of page ids", maxGrid, func() {
		var v value
		x.scan.value(&v)
		if v.kind != kindString && bad == nil {
			bad = headcount.FieldError(headcount.CodeInvalidField, "ids", "ids[%d] must be a string", len(pages))
		}
		pages = append(pages, v.text)
	})
	if fault == nil {
		fault = bad
	}
	return pages, fault
}
