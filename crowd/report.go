package crowd

import (
	"context"
	"errors"
	"time"
)

// clockEvery is how often Run reads the clock at least: it must not take a long
// report interval for a frozen process.
const clockEvery = time.Second

// departWithin is how long Run tries to say goodbye to the store.
const departWithin = time.Second

// trimBlocks bounds how much memory one report gives back to the system: 64 MiB,
// in a few milliseconds.
const trimBlocks = 8192

// Run reports until ctx ends: every report interval it lets silent viewers go and
// tells the other nodes what is left; twice as often it merges what they say and
// tells readers what changed. It returns nil after it took this node out of the
// fleet. Only one Run may be active.
func (c *Crowd) Run(ctx context.Context) error {
	beat := time.NewTicker(clockEvery)
	defer beat.Stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	health := storeHealth{logger: c.opts.Logger}
	for whole := false; ; {
		select {
		case <-ctx.Done():
			return c.depart(ctx)
		case <-beat.C:
			c.clock.millis()
		case <-timer.C:
			health.observe(c.pass(ctx, whole))
			whole = !whole
			timer.Reset(c.pause())
		}
	}
}

// pause returns half a report interval, give or take a tenth, so that the nodes
// of a fleet do not fall into step.
func (c *Crowd) pause() time.Duration {
	half := c.opts.ReportInterval / 2
	return half*9/10 + time.Duration(c.jitter.Int64N(int64(half/5)+1))
}

// pass is one half of a report, or its whole. The errors are those of the store;
// what needs none of it is done anyhow.
func (c *Crowd) pass(ctx context.Context, whole bool) error {
	began := time.Now() // the work is real whatever clock the window has
	err := c.sync(ctx)
	if whole {
		c.sweep()
	}
	if !c.exchange.Alone() {
		err = errors.Join(err, c.trade(ctx, whole))
	}
	c.tell()
	if whole {
		took := time.Since(began)
		c.lastReport.Store(int64(took))
		c.metrics.reports.Observe(took.Seconds())
	}
	return err
}

// sync learns who else is there. A node alone has all the truth in its window.
// While the registry cannot be believed, it stays as it was.
func (c *Crowd) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.ReportInterval)
	defer cancel()
	if err := c.exchange.Sync(ctx); err != nil {
		return err
	}
	alone := c.exchange.Alone()
	if !alone || !c.exchange.Holds() {
		c.local.Store(alone)
	}
	if c.synced.Swap(int64(c.clock.millis())) < 0 {
		close(c.ready)
	}
	return nil
}

// trade writes what this node hears, counts the partitions it owns, and fetches
// those that are read here and owned by others.
func (c *Crowd) trade(ctx context.Context, whole bool) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.ReportInterval)
	defer cancel()
	var errs []error
	if whole {
		errs = append(errs, c.exchange.Report(ctx))
	}
	errs = append(errs, c.exchange.Merge(ctx))
	others := func(partition int) bool { return !c.exchange.Owns(partition) }
	if followed := c.followed(others); len(followed) > 0 {
		errs = append(errs, c.exchange.Fetch(ctx, followed))
	}
	return errors.Join(errs...)
}

// followed returns the partitions that have readers, or had some lately.
func (c *Crowd) followed(match func(partition int) bool) []int {
	now := c.clock.millis()
	for p := range c.watches {
		w := &c.watches[p]
		w.mu.Lock()
		if len(w.pages) > 0 {
			c.follow.note(p, now)
		}
		w.mu.Unlock()
	}
	return c.follow.followed(now, match)
}

// sweep lets viewers go who were silent for the window, and memory that they took.
func (c *Crowd) sweep() {
	now := c.clock.millis()
	for p := range c.window.parts {
		c.window.sweep(p, now)
	}
	c.window.entries.Trim(trimBlocks)
	c.window.records.Trim(trimBlocks)
}

func (c *Crowd) depart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), departWithin)
	defer cancel()
	if err := c.exchange.Depart(ctx); err != nil {
		c.opts.Logger.Warn("could not take this node out of the fleet; its viewers stay in the counts for one freshness", "err", err)
	}
	return nil
}
