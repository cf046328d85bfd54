package crowd

import (
	"context"
	"time"

	"github.com/headcount-live/headcount"
)

// Count returns how many people are on a page. A page that is known costs no
// allocation and blocks for no store. The first read of a page's partition in a
// fleet asks the store, once for all readers of that moment, for the store
// timeout at most. Reading a page nobody is on keeps nothing.
//
// There is no error: knowledge that is too old, or missing, is a degraded count.
func (c *Crowd) Count(ctx context.Context, page string) headcount.PageCount {
	count := c.look(ctx, c.pageID(page).key)
	count.PageID = page
	return count
}

// look returns what the board shows of a page, without its id, and asks the store
// if nothing is known.
func (c *Crowd) look(ctx context.Context, key PageKey) headcount.PageCount {
	if c.synced.Load() < 0 {
		c.awaitSync(ctx)
	}
	now := c.clock.millis()
	if !c.local.Load() {
		partition := key.Partition(c.opts.Partitions)
		c.follow.note(partition, now)
		if c.fresh(partition) == nil {
			c.ask(ctx, partition, now)
		}
	}
	return c.peek(key, now)
}

// peek returns what the board shows of a page, without its id. It never blocks.
func (c *Crowd) peek(key PageKey, now uint32) headcount.PageCount {
	if c.local.Load() {
		live := c.window.live(key)
		if elapsed(now, uint32(c.synced.Load())) > int32(c.opts.StaleAfter.Milliseconds()) {
			return c.degraded(live)
		}
		return headcount.PageCount{Count: int64(live), TS: c.opts.Now().UnixMilli()}
	}
	partition := key.Partition(c.opts.Partitions)
	known := c.fresh(partition)
	if known == nil {
		last := c.window.live(key)
		if stale := c.exchange.Known(partition); stale != nil {
			last = stale.Lookup(key).Count
		}
		return c.degraded(last)
	}
	tally := known.Lookup(key)
	count := headcount.PageCount{Count: int64(tally.Count), Approx: tally.Approx, TS: known.AsOf.UnixMilli()}
	if tally.Approx {
		count.ErrorPct = ErrorPct
	}
	return count
}

// fresh returns the counts of a partition if they are young enough to be told.
func (c *Crowd) fresh(partition int) *Known {
	known := c.exchange.Known(partition)
	if known == nil || c.opts.Now().Sub(known.AsOf) > c.opts.StaleAfter {
		return nil
	}
	return known
}

// ask fetches a partition from the store.
func (c *Crowd) ask(ctx context.Context, partition int, now uint32) {
	c.follow.once(ctx, partition, now, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, c.opts.StoreTimeout)
		defer cancel()
		// A failure shows in the age of what is known; Run logs the store's state.
		_ = c.exchange.Fetch(ctx, []int{partition})
	})
}

// awaitSync waits for Run to learn who else is there, for the store timeout at
// most: a node that just started must not tell its own number for the fleet's.
func (c *Crowd) awaitSync(ctx context.Context) {
	timer := time.NewTimer(c.opts.StoreTimeout)
	defer timer.Stop()
	select {
	case <-c.ready:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// degraded returns what is told of a page whose last good count is all that is left.
func (c *Crowd) degraded(last int) headcount.PageCount {
	return headcount.PageCount{
		Degraded: true,
		Popular:  last >= headcount.PopularFrom,
		TS:       c.opts.Now().UnixMilli(),
	}
}
