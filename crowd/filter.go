package crowd

import "net/netip"

// Visitor is what is known of whoever sent a heartbeat. Zero fields are unknown.
type Visitor struct {
	Addr      netip.Addr // of the client, as far as proxies are trusted
	UserAgent string
}

// Filter decides whether a new session may count. It is asked before a session is
// counted on a page it was not on, never for one that goes on, so it may cost more
// than a heartbeat. Implementations are safe for concurrent use and do not block.
type Filter interface {
	Allow(v Visitor) bool
}

// Filters asks each filter in turn and allows what all of them do.
type Filters []Filter

// Allow implements [Filter].
func (f Filters) Allow(v Visitor) bool {
	for _, one := range f {
		if !one.Allow(v) {
			return false
		}
	}
	return true
}
