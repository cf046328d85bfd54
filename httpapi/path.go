package httpapi

import (
	"net/url"
	"strings"
)

// maxSegments is the most segments that a route has.
const maxSegments = 8

// segments splits the path of u into decoded segments. A path is taken
// literally: %2F and %2E%2E are bytes of an id, while a dot segment is no step
// anywhere and matches nothing. ok is false for a path that no route can have.
func segments(u *url.URL, into *[maxSegments]string) (n int, ok bool) {
	path, encoded := u.Path, false
	if u.RawPath != "" { // the path has an escape that says more than its decoded form
		path, encoded = u.RawPath, true
	}
	if path == "" || path[0] != '/' {
		return 0, false
	}
	for rest, more := path[1:], true; more; n++ {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if n == maxSegments || segment == "." || segment == ".." {
			return 0, false
		}
		if encoded {
			var err error
			if segment, err = url.PathUnescape(segment); err != nil {
				return 0, false
			}
		}
		into[n] = segment
	}
	return n, true
}

// queryValue returns the decoded value of a query parameter, and how often it is
// given. A value that cannot be decoded counts as it stands.
func queryValue(query, name string) (value string, times int) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, v, _ := strings.Cut(pair, "=")
		if decodeQuery(key) != name {
			continue
		}
		if times++; times == 1 {
			value = decodeQuery(v)
		}
	}
	return value, times
}

func decodeQuery(s string) string {
	if decoded, err := url.QueryUnescape(s); err == nil {
		return decoded
	}
	return s
}
