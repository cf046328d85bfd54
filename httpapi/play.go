package httpapi

import (
	"context"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// The members of a play-start, in the order in which their faults are told.
const (
	playAccount = iota
	playDevice
	playDeviceKey
	playProfile
	playTitle
	playMeta
	playReplace
	playMembers
)

func playIndex(key string) int {
	switch key {
	case "account_id":
		return playAccount
	case "device_id":
		return playDevice
	case "device_key":
		return playDeviceKey
	case "profile_id":
		return playProfile
	case "title_id":
		return playTitle
	case "device_meta":
		return playMeta
	case "replace_stream_id":
		return playReplace
	}
	return -1
}

// play answers POST /v1/streams.
func (s *Server) play(ctx context.Context, x *exchange) {
	req, fault := x.playRequest()
	if fault != nil {
		x.fail(fault)
		return
	}
	play, err := s.gate.Play(ctx, &req)
	if err != nil {
		x.fail(err)
		return
	}
	x.out = append(x.out[:0], `{"stream_id":"`...)
	x.out = append(append(x.out, play.StreamID...), `",`...)
	x.out = append(x.out, s.terms...)
	if play.Degraded {
		x.out = append(x.out, `,"degraded":true`...)
	}
	x.out = append(x.out, '}')
	x.ok()
}

// playRequest decodes the body. Its strings are views that end with the exchange.
func (x *exchange) playRequest() (req gate.PlayRequest, err *headcount.Error) {
	f := x.fields[:playMembers]
	if err = x.scan.object(x.body, playIndex, f); err != nil {
		return req, err
	}
	if req.Account, err = f[playAccount].account(); err != nil {
		return req, err
	}
	if req.Device, err = f[playDevice].id("device_id", headcount.MaxIDLen); err != nil {
		return req, err
	}
	if req.DeviceKey, err = f[playDeviceKey].optionalID("device_key"); err != nil {
		return req, err
	}
	if req.Meta, err = metadata(&f[playProfile], &f[playTitle], &f[playMeta]); err != nil {
		return req, err
	}
	req.Replace, err = f[playReplace].str("replace_stream_id")
	return req, err
}

// metadata decodes what a player says about itself.
func metadata(profile, title, device *value) (m headcount.Metadata, err *headcount.Error) {
	if m.ProfileID, err = profile.optionalID("profile_id"); err != nil {
		return m, err
	}
	if m.TitleID, err = title.optionalID("title_id"); err != nil {
		return m, err
	}
	m.DeviceMeta, err = device.meta("device_meta")
	return m, err
}

// appendTerms appends the members that tell a player how long its lease is and
// how often to beat.
func appendTerms(b []byte, t gate.Terms) []byte {
	b = appendSeconds(append(b, `"lease_ttl_sec":`...), t.TTL)
	return appendSeconds(append(b, `,"heartbeat_interval_sec":`...), t.HeartbeatInterval)
}
