package gate

import (
	"context"

	"github.com/headcount-live/headcount"
)

// Listing is what an account plays now, and how much it may.
type Listing struct {
	Limit  int               `json:"limit"`
	Active []headcount.Lease `json:"active"` // oldest first, never nil
}

// List returns the live streams of an account, also of one that is inactive or
// above its limit. Error: [headcount.CodeUnavailable].
func (g *Gate) List(ctx context.Context, account string) (Listing, error) {
	active, err := g.leases.List(ctx, g.hasher.Account(account))
	if err != nil {
		return Listing{}, g.failed(err)
	}
	g.outage.ok()
	return Listing{
		Limit:  g.plans.Entitlement(ctx, account).Limit,
		Active: g.name(account, active),
	}, nil
}
