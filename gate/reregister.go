package gate

import (
	"context"

	"github.com/headcount-live/headcount"
)

// revival returns how many leases the account may have for this unknown one to
// re-register, 0 if it may not.
//
// A store that lost its memory (a restart, an empty replica that took over) does
// not know its leases any more, and a player is never cut for our fault. The
// proof that a stream existed is the stream id itself: genuine, and minted under
// another generation of the store's memory than the one that lives. An id of the
// living generation is unknown because it lapsed or was released, and stays so;
// once the generation is one TTL old, every player of before has had its chance.
//
// Genuine streams come back beyond the limit, because who was beyond it cannot
// be known, but not without bound: twice the limit, so that a hoard of old ids
// gains little. Newcomers wait until the account is under its limit again.
func (g *Gate) revival(ctx context.Context, account string, r *headcount.RenewRequest) (int, error) {
	generation, err := g.leases.LookGeneration(ctx, r.Account)
	if err != nil {
		return 0, err
	}
	if !generation.Fresh || generation.ID == r.Lease.Generation() {
		return 0, nil
	}
	entitled := g.plans.Entitlement(ctx, account)
	if inactive(entitled.Status) {
		return 0, nil
	}
	return 2 * entitled.Limit, nil
}
