package gate

import (
	"context"

	"github.com/headcount-live/headcount"
)

// Watch tells how a stream ends: the channel carries one value and is closed, or
// is closed without one when ctx ends. A stream that was stopped already answers
// at once. Watching keeps nothing alive. Errors: [headcount.CodeLeaseExpired] for
// a stream that is unknown, lapsed, foreign or forged; [headcount.CodeUnavailable].
func (g *Gate) Watch(ctx context.Context, account, streamID string) (<-chan headcount.Ended, error) {
	lease, genuine := g.signer.Parse(account, streamID)
	if !genuine {
		return nil, expiredError()
	}
	ended, err := g.leases.Watch(ctx, g.hasher.Account(account), lease)
	switch {
	case headcount.ErrorCode(err) == headcount.CodeLeaseExpired:
		return nil, expiredError()
	case err != nil:
		return nil, g.failed(err)
	}
	g.outage.ok()
	return ended, nil
}
