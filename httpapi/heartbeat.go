package httpapi

import (
	"context"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// The members of a heartbeat, in the order in which their faults are told.
const (
	beatAccount = iota
	beatProfile
	beatTitle
	beatMeta
	beatMembers
)

func beatIndex(key string) int {
	switch key {
	case "account_id":
		return beatAccount
	case "profile_id":
		return beatProfile
	case "title_id":
		return beatTitle
	case "device_meta":
		return beatMeta
	}
	return -1
}

// heartbeat answers PUT and POST /v1/streams/{stream_id}/heartbeat.
func (s *Server) heartbeat(ctx context.Context, x *exchange) {
	req, fault := x.beatRequest()
	if fault != nil {
		x.fail(fault)
		return
	}
	beat, err := s.gate.Heartbeat(ctx, &req)
	if err != nil {
		x.fail(err)
		return
	}
	x.out = append(x.out[:0], s.beatOK...)
	if beat.Reregistered {
		x.out = append(x.out[:len(x.out)-1], `,"re_registered":true}`...)
	}
	x.ok()
}

// beatRequest decodes the body. Its strings are views that end with the exchange.
func (x *exchange) beatRequest() (req gate.HeartbeatRequest, err *headcount.Error) {
	f := x.fields[:beatMembers]
	if err = x.scan.object(x.body, beatIndex, f); err != nil {
		return req, err
	}
	if req.Account, err = f[beatAccount].account(); err != nil {
		return req, err
	}
	req.StreamID = x.args[0]
	req.Meta, err = metadata(&f[beatProfile], &f[beatTitle], &f[beatMeta])
	return req, err
}
