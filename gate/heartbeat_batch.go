package gate

import (
	"context"
	"sync"

	"github.com/headcount-live/headcount"
)

// BeatResult is the outcome of one heartbeat of a batch.
type BeatResult struct {
	Beat
	Err error // as [Gate.Heartbeat] would return it
}

// HeartbeatBatch is [Gate.Heartbeat] for many players at once. It fills
// results[i] for reqs[i]; the two have the same length. An item whose result
// holds an error already, because its caller found it bad, is left alone.
func (g *Gate) HeartbeatBatch(ctx context.Context, reqs []HeartbeatRequest, results []BeatResult) {
	b := g.batches.Get().(*batch)
	defer g.batches.Put(b)
	defer b.reset()

	forged := 0
	for i := range reqs {
		if results[i].Err != nil {
			continue
		}
		lease, genuine := g.signer.Parse(reqs[i].Account, reqs[i].StreamID)
		if !genuine {
			forged++
			results[i] = BeatResult{Err: expiredError()}
			continue
		}
		b.add(i, headcount.RenewRequest{Account: g.hasher.Account(reqs[i].Account), Lease: lease, Meta: reqs[i].Meta})
	}
	g.metrics.heartbeats.forged.Add(float64(forged))
	g.leases.RenewBatch(ctx, b.renewals, b.outcomes)
	g.renewForgotten(ctx, b, reqs)
	g.answer(b, results)
}

// renewForgotten asks once more for the unknown leases that a lost memory may
// explain. The questions behind it go out together, so that the misses of the
// plan cache share one query and a slow store is waited for once.
func (g *Gate) renewForgotten(ctx context.Context, b *batch, reqs []HeartbeatRequest) {
	var looks sync.WaitGroup
	asked := false
	for i := range b.outcomes {
		if b.outcomes[i].Err != nil || b.outcomes[i].State != headcount.RenewUnknown {
			continue
		}
		asked = true
		looks.Go(func() {
			b.renewals[i].Revive, b.outcomes[i].Err = g.revival(ctx, reqs[b.items[i]].Account, &b.renewals[i])
		})
	}
	if !asked {
		return
	}
	looks.Wait()

	again := g.batches.Get().(*batch)
	defer g.batches.Put(again)
	defer again.reset()
	for i := range b.renewals {
		if b.renewals[i].Revive > 0 {
			again.add(i, b.renewals[i])
		}
	}
	if len(again.items) == 0 {
		return
	}
	g.leases.RenewBatch(ctx, again.renewals, again.outcomes)
	for j, i := range again.items {
		b.outcomes[i] = again.outcomes[j]
	}
}

// answer turns the outcomes of a batch into the players' answers and counts them.
func (g *Gate) answer(b *batch, results []BeatResult) {
	var states [headcount.RenewStopped + 1]int
	failed := 0
	for j, i := range b.items {
		outcome := b.outcomes[j]
		if outcome.Err != nil {
			failed++
			results[i] = BeatResult{Err: g.failed(outcome.Err)}
			continue
		}
		states[outcome.State]++
		results[i].Beat, results[i].Err = beat(outcome)
	}
	if failed == 0 && len(b.items) > 0 {
		g.outage.ok()
	}
	g.metrics.heartbeats.failed.Add(float64(failed))
	for state, n := range states {
		g.metrics.heartbeats.of(headcount.RenewState(state)).Add(float64(n))
	}
}

// batch is the part of a batch that goes to the store: renewals[j] belongs to
// item items[j] of the caller.
type batch struct {
	items    []int
	renewals []headcount.RenewRequest
	outcomes []headcount.RenewResult
}

func (b *batch) add(item int, r headcount.RenewRequest) {
	b.items = append(b.items, item)
	b.renewals = append(b.renewals, r)
	b.outcomes = append(b.outcomes, headcount.RenewResult{})
}

// reset empties the batch and lets go of every string in it, which may be a view
// of the caller's buffer.
func (b *batch) reset() {
	clear(b.renewals)
	clear(b.outcomes)
	b.items, b.renewals, b.outcomes = b.items[:0], b.renewals[:0], b.outcomes[:0]
}
