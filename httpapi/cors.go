package httpapi

import "slices"

// origins is a CORS policy: which pages of other origins may call a route. A nil
// one lets none.
type origins struct {
	any    bool
	named  []string
	star   []string // shared header values
	vary   []string
	truth  []string
	expose []string
}

// newOrigins returns the policy for a list of origins, where "*" stands for all
// and none at all for none.
func newOrigins(list []string) *origins {
	if len(list) == 0 {
		return nil
	}
	return &origins{
		any:    slices.Contains(list, "*"),
		named:  list,
		star:   []string{"*"},
		vary:   []string{"Origin"},
		truth:  []string{"true"},
		expose: []string{"ETag, Retry-After"},
	}
}

// allow lets the page that asked read the answer. Named origins may send
// credentials, because navigator.sendBeacon always does; nothing here reads a
// cookie.
func (o *origins) allow(x *exchange) {
	switch {
	case o == nil:
	case o.any:
		x.reply["Access-Control-Allow-Origin"] = o.star
	default:
		x.reply["Vary"] = o.vary
		if origin := x.header["Origin"]; len(origin) == 1 && slices.Contains(o.named, origin[0]) {
			x.reply["Access-Control-Allow-Origin"] = origin
			x.reply["Access-Control-Allow-Credentials"] = o.truth
			x.reply["Access-Control-Expose-Headers"] = o.expose
		}
	}
}

// preflight says what the page may send. Two hours are the longest that any
// browser remembers.
func (o *origins) preflight(x *exchange, methods string) {
	if _, allowed := x.reply["Access-Control-Allow-Origin"]; !allowed {
		return
	}
	x.reply.Set("Access-Control-Allow-Methods", methods)
	x.reply.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
	x.reply.Set("Access-Control-Max-Age", "7200")
}
