package gate

import (
	"context"

	"github.com/headcount-live/headcount"
)

// PlayRequest asks to start a stream.
type PlayRequest struct {
	Account   string
	Device    string
	DeviceKey string // the device's secret; empty: none
	Replace   string // stream id to stop if the play is admitted; gone, malformed or foreign: none
	Meta      headcount.Metadata
}

// Play is a stream that may start.
type Play struct {
	StreamID string
	Degraded bool // decided without the live-state store
}

// Play starts a stream: one indivisible step of the store in which the device's
// old stream ends as replaced, the named one as force_stopped, and the limit
// holds whoever else asks at this moment. Errors: [headcount.CodeSubscriptionInactive],
// before anything is ended; [headcount.CodeStreamLimit] with the facts in Denied;
// [headcount.CodeUnavailable].
func (g *Gate) Play(ctx context.Context, req *PlayRequest) (Play, error) {
	entitled := g.plans.Entitlement(ctx, req.Account)
	if inactive(entitled.Status) {
		g.metrics.plays.inactive.Inc()
		return Play{}, inactiveError(entitled.Status)
	}
	account := g.hasher.Account(req.Account)
	device := g.hasher.Device(account, req.Device, req.DeviceKey)
	lease, err := g.signer.Mint(g.leases.Generation(account), device)
	if err != nil {
		g.metrics.plays.failed.Inc()
		return Play{}, unmintedError(err)
	}
	replace, named := g.signer.Parse(req.Account, req.Replace)
	result, err := g.leases.Acquire(ctx, &headcount.AcquireRequest{
		Account: account,
		Device:  device,
		Lease:   lease,
		Limit:   entitled.Limit,
		Replace: replace,
		Meta:    req.Meta,
	})
	if err != nil {
		g.metrics.plays.failed.Inc()
		return Play{}, g.failed(err)
	}
	g.outage.ok()
	if !result.Admitted {
		g.metrics.plays.denied.Inc()
		return Play{}, deniedError(entitled.Limit, g.name(req.Account, result.Active))
	}
	g.metrics.admitted(result.TookOver, named)
	return Play{StreamID: g.signer.StreamID(req.Account, lease)}, nil
}

// inactive reports whether a status keeps an account from starting streams. One
// that cannot be read does not: our fault never denies a payer.
func inactive(s headcount.Status) bool {
	return s == headcount.StatusPaused || s == headcount.StatusChurned
}
