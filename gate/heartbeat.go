package gate

import (
	"context"

	"github.com/headcount-live/headcount"
)

// HeartbeatRequest proves that a player is alive.
type HeartbeatRequest struct {
	Account  string
	StreamID string
	Meta     headcount.Metadata // the parts given replace those kept
}

// Beat is a stream that lives for one more TTL.
type Beat struct {
	// Reregistered says that the store had forgotten the stream and knows it
	// again, without its metadata: the player repeats it in the next beat.
	Reregistered bool
}

// Heartbeat keeps a stream alive for one TTL from now. The limit is not checked.
// Errors: [headcount.CodeLeaseExpired] for a stream that is unknown, lapsed,
// foreign or forged; [headcount.CodeStreamStopped] with Ended;
// [headcount.CodeUnavailable].
func (g *Gate) Heartbeat(ctx context.Context, req *HeartbeatRequest) (Beat, error) {
	lease, genuine := g.signer.Parse(req.Account, req.StreamID)
	if !genuine {
		g.metrics.heartbeats.forged.Inc()
		return Beat{}, expiredError()
	}
	renewal := g.renewals.Get().(*headcount.RenewRequest)
	*renewal = headcount.RenewRequest{Account: g.hasher.Account(req.Account), Lease: lease, Meta: req.Meta}
	result, err := g.renew(ctx, req.Account, renewal)
	*renewal = headcount.RenewRequest{} // keeps no view of the caller's buffer
	g.renewals.Put(renewal)
	if err != nil {
		g.metrics.heartbeats.failed.Inc()
		return Beat{}, g.failed(err)
	}
	g.outage.ok()
	g.metrics.heartbeats.of(result.State).Inc()
	return beat(result)
}

// renew renews a lease, and asks once more if a lost memory is why it is unknown.
func (g *Gate) renew(ctx context.Context, account string, renewal *headcount.RenewRequest) (headcount.RenewResult, error) {
	result, err := g.leases.Renew(ctx, renewal)
	if err != nil || result.State != headcount.RenewUnknown {
		return result, err
	}
	if renewal.Revive, err = g.revival(ctx, account, renewal); err != nil || renewal.Revive == 0 {
		return result, err
	}
	return g.leases.Renew(ctx, renewal)
}

// beat turns the outcome of a renewal into the player's answer.
func beat(result headcount.RenewResult) (Beat, error) {
	switch result.State {
	case headcount.RenewOK:
		return Beat{}, nil
	case headcount.RenewReregistered:
		return Beat{Reregistered: true}, nil
	case headcount.RenewStopped:
		return Beat{}, stoppedError(result.Ended)
	}
	return Beat{}, expiredError()
}
