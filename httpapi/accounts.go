package httpapi

import (
	"context"
	"strconv"
)

// listStreams answers GET /v1/accounts/{account_id}/streams.
func (s *Server) listStreams(ctx context.Context, x *exchange) {
	account := x.args[0]
	if fault := checkAccount(account); fault != nil {
		x.fail(fault)
		return
	}
	listing, err := s.gate.List(ctx, account)
	if err != nil {
		x.fail(err)
		return
	}
	x.out = append(x.out[:0], '{')
	x.out = append(appendListing(x.out, listing.Limit, listing.Active), '}')
	x.ok()
}

// forceStop answers POST /v1/accounts/{account_id}/streams/{stream_id}/force-stop.
func (s *Server) forceStop(ctx context.Context, x *exchange) {
	account := x.args[0]
	if fault := checkAccount(account); fault != nil {
		x.fail(fault)
		return
	}
	if err := s.gate.Stop(ctx, account, x.args[1]); err != nil {
		x.fail(err)
		return
	}
	x.done()
}

// forceStopAll answers POST /v1/accounts/{account_id}/force-stop.
func (s *Server) forceStopAll(ctx context.Context, x *exchange) {
	account := x.args[0]
	if fault := checkAccount(account); fault != nil {
		x.fail(fault)
		return
	}
	n, err := s.gate.StopAll(ctx, account)
	if err != nil {
		x.fail(err)
		return
	}
	x.out = append(x.out[:0], `{"ok":true,"stopped":`...)
	x.out = append(strconv.AppendInt(x.out, int64(n), 10), '}')
	x.ok()
}
