package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/headcount-live/headcount"
)

// adminGuard lets operators in. With a token, whoever knows it. Without one the
// listener is on loopback, where the danger is a web page in the operator's own
// browser: such a page comes either under a name that its owner points at
// 127.0.0.1 (DNS rebinding) or as a request from another origin.
type adminGuard struct {
	token   *[sha256.Size]byte // hashed, so that comparing tells not even the length; nil: none
	browser *http.CrossOriginProtection
}

func newAdminGuard(token string) *adminGuard {
	g := &adminGuard{browser: http.NewCrossOriginProtection()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		g.token = &sum
	}
	return g
}

// check returns nil for an operator, else an error with CodeUnauthorized or
// CodeForbidden.
func (g *adminGuard) check(r *http.Request) error {
	if g.token != nil {
		return g.checkToken(r.Header.Get("Authorization"))
	}
	if !localHost(r.Host) {
		return headcount.Errorf(headcount.CodeForbidden,
			"without --admin-token this listener answers to localhost and to IP addresses only, not to %q", r.Host)
	}
	if err := g.browser.Check(r); err != nil {
		return headcount.Errorf(headcount.CodeForbidden, "pages of another origin may change nothing here")
	}
	return nil
}

func (g *adminGuard) checkToken(authorization string) error {
	scheme, given, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(sum[:], g.token[:]) != 1 {
		return headcount.Errorf(headcount.CodeUnauthorized, "send the admin token as Authorization: Bearer TOKEN")
	}
	return nil
}

// localHost reports whether a Host header names no DNS name that could be
// somebody else's.
func localHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	_, err := netip.ParseAddr(name)
	return err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost")
}
