package gate

import "context"

// Release ends a stream that its player has stopped, without a tombstone. It
// succeeds, without effect, for a stream that is gone, foreign or forged. Error:
// [headcount.CodeUnavailable].
func (g *Gate) Release(ctx context.Context, account, streamID string) error {
	lease, genuine := g.signer.Parse(account, streamID)
	if !genuine {
		g.metrics.releases.forged.Inc()
		return nil
	}
	live, err := g.leases.Release(ctx, g.hasher.Account(account), lease)
	if err != nil {
		g.metrics.releases.failed.Inc()
		return g.failed(err)
	}
	g.outage.ok()
	if live {
		g.metrics.releases.released.Inc()
	} else {
		g.metrics.releases.gone.Inc()
	}
	return nil
}

// Stop ends a stream of the account from outside: the slot is free at once and
// the player is told force_stopped. Errors: [headcount.CodeStreamNotFound] for a
// stream that is gone, foreign or forged; [headcount.CodeUnavailable].
func (g *Gate) Stop(ctx context.Context, account, streamID string) error {
	lease, genuine := g.signer.Parse(account, streamID)
	if !genuine {
		g.metrics.stops.notFound.Inc()
		return notFoundError()
	}
	live, err := g.leases.Stop(ctx, g.hasher.Account(account), lease)
	if err != nil {
		g.metrics.stops.failed.Inc()
		return g.failed(err)
	}
	g.outage.ok()
	if !live {
		g.metrics.stops.notFound.Inc()
		return notFoundError()
	}
	g.metrics.stops.stopped.Inc()
	return nil
}

// StopAll ends every stream of the account as [Gate.Stop] does and returns how
// many there were. Error: [headcount.CodeUnavailable].
func (g *Gate) StopAll(ctx context.Context, account string) (int, error) {
	n, err := g.leases.StopAll(ctx, g.hasher.Account(account))
	if err != nil {
		g.metrics.stops.failed.Inc()
		return 0, g.failed(err)
	}
	g.outage.ok()
	g.metrics.stops.stopped.Add(float64(n))
	return n, nil
}
