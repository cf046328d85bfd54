package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// feedBatch is how many changes are told in one call at most.
const feedBatch = 1000

// FollowPlans tells changed about the changes that the database's own log holds,
// so whoever made them, in commit order, at the latest one poll after the commit.
// A second follower at the same time begins with all. It returns ctx.Err() when
// ctx ends and the failure when the database fails; the next call takes up where
// this one ended.
func (p *Plans) FollowPlans(ctx context.Context, changed func(accounts []string, all bool)) (err error) {
	at, known := p.takeUp()
	defer func() {
		if known {
			p.leaveOff(at)
		}
		if err != nil && ctx.Err() != nil {
			err = ctx.Err() // the driver calls it an interrupt
		}
	}()
	poll := time.NewTicker(p.poll)
	defer poll.Stop()
	for {
		if !known {
			if at, err = p.feedHead(ctx); err != nil {
				return err
			}
			known = true
			changed(nil, true)
		}
		if at, err = p.tellChanges(ctx, at, changed); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
}

// takeUp returns where the last follower ended, if there was one.
func (p *Plans) takeUp() (at int64, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, p.resuming = p.resuming, false
	return p.resume, known
}

// leaveOff keeps the position for the next follower, the earlier one of two.
func (p *Plans) leaveOff(at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resuming {
		at = min(at, p.resume)
	}
	p.resume, p.resuming = at, true
}

// tellChanges tells what happened after position at and returns how far it got.
// The head alone is asked first: most polls find nothing.
func (p *Plans) tellChanges(ctx context.Context, at int64, changed func([]string, bool)) (int64, error) {
	head, err := p.feedHead(ctx)
	if err != nil {
		return at, err
	}
	if head < at { // an older copy of the database was put in its place
		changed(nil, true)
		return head, nil
	}
	for at < head {
		accounts, end, all, err := p.readChanges(ctx, at)
		switch {
		case err != nil:
			return at, err
		case all || len(accounts) == 0: // behind the trim, or told to look at everything
			at = max(head, end)
			changed(nil, true)
		default:
			at = end
			changed(accounts, false)
		}
	}
	return at, nil
}

// readChanges reads one batch of changes after position at, where it ends, and
// whether the batch tells less than what happened.
func (p *Plans) readChanges(ctx context.Context, at int64) (accounts []string, end int64, all bool, err error) {
	rows, err := p.read.QueryContext(ctx, p.dialect.feedChanges, at, feedBatch)
	if err != nil {
		return nil, at, false, fmt.Errorf("following plans: %w", err)
	}
	defer rows.Close()
	end = at
	for rows.Next() {
		var seq int64
		var account sql.NullString
		if err := rows.Scan(&seq, &account); err != nil {
			return nil, at, false, fmt.Errorf("following plans: %w", err)
		}
		all = all || !account.Valid || seq != end+1
		accounts = append(accounts, account.String)
		end = seq
	}
	if err := rows.Err(); err != nil {
		return nil, at, false, fmt.Errorf("following plans: %w", err)
	}
	return accounts, end, all, nil
}

func (p *Plans) feedHead(ctx context.Context) (head int64, err error) {
	err = p.read.QueryRowContext(ctx, p.dialect.feedHead).Scan(&head)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("following plans: %w", err)
	}
	return head, nil
}
