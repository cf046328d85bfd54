package httpapi

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

// The members of a presence beat. Others, ts among them, are ignored.
const (
	presencePage = iota
	presenceSession
	presenceMembers
)

func presenceIndex(key string) int {
	switch key {
	case "page_id":
		return presencePage
	case "session_id":
		return presenceSession
	}
	return -1
}

// presenceBeat answers POST /api/v1/presence/heartbeat. A viewer who does not
// count, because of a filter or a cap, is told nothing of it.
func (s *Server) presenceBeat(_ context.Context, x *exchange) {
	page, session, fault := x.presence()
	if fault != nil {
		x.fail(fault)
		return
	}
	s.crowd.Beat(page, session, s.visitor(x))
	x.status = http.StatusNoContent
}

// presenceLeave answers POST /api/v1/presence/leave.
func (s *Server) presenceLeave(_ context.Context, x *exchange) {
	page, session, fault := x.presence()
	if fault != nil {
		x.fail(fault)
		return
	}
	s.crowd.Leave(page, session)
	x.status = http.StatusNoContent
}

// presence decodes the body. Its strings are views that end with the exchange.
func (x *exchange) presence() (page, session string, err *headcount.Error) {
	f := x.fields[:presenceMembers]
	if err = x.scan.object(x.body, presenceIndex, f); err != nil {
		return "", "", err
	}
	return presenceIDs(f)
}

func presenceIDs(f []value) (page, session string, err *headcount.Error) {
	if page, err = f[presencePage].id("page_id", headcount.MaxPageIDLen); err != nil {
		return "", "", err
	}
	session, err = f[presenceSession].id("session_id", headcount.MaxIDLen)
	return page, session, err
}

// visitor says who sent the request, as far as the crowd's filters ask. The
// address of a trusted proxy itself is nobody's: what a gateway collects comes
// from many.
func (s *Server) visitor(x *exchange) (v crowd.Visitor) {
	if agent := x.header["User-Agent"]; len(agent) > 0 {
		v.UserAgent = agent[0]
	}
	if s.config.LimitsAddresses {
		trusted := proxies(s.config.TrustedProxies)
		if v.Addr = trusted.client(x.request); trusted.trusts(v.Addr) {
			v.Addr = netip.Addr{}
		}
	}
	return v
}
