package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks whose word about a client's address is believed.
type proxies []netip.Prefix

// client returns the address that the request came from: the peer's, or, where
// the peer is a trusted proxy, the last address of X-Forwarded-For that is not
// one. What stands before it was written by the client and means nothing. The
// zero address stands for a peer without one, such as a Unix socket.
func (p proxies) client(r *http.Request) netip.Addr {
	at := parseAddr(r.RemoteAddr)
	if len(p) == 0 || !p.trusts(at) {
		return at
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr := parseAddr(strings.TrimSpace(hop))
		if !addr.IsValid() {
			break
		}
		if at = addr; !p.trusts(at) {
			break
		}
	}
	return at
}

func (p proxies) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// parseAddr reads an address with or without a port, without its IPv6 zone.
func parseAddr(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}
