package memory

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/headcount-live/headcount"
)

// Plans is the [headcount.PlanStore] in this process. It forgets everything when
// the process ends, never fails and never blocks, except that FollowPlans waits
// for changes. It is safe for concurrent use.
type Plans struct {
	now func() time.Time

	mu   sync.Mutex
	rows map[string]headcount.Plan
	feed planFeed
}

var _ headcount.PlanStore = (*Plans)(nil)

// NewPlans returns an empty Plans that takes UpdatedAt from now.
func NewPlans(now func() time.Time) *Plans {
	return &Plans{now: now, rows: map[string]headcount.Plan{}, feed: newPlanFeed()}
}

// Plans returns the rows of the accounts that have one.
func (p *Plans) Plans(_ context.Context, accounts []string) ([]headcount.Plan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := make(map[string]headcount.Plan, len(accounts)) // an account named twice has one row
	for _, account := range accounts {
		if row, ok := p.rows[account]; ok {
			found[account] = ownPlan(row)
		}
	}
	return slices.Collect(maps.Values(found)), nil
}

// PutPlan replaces the account's row and returns it with its UpdatedAt.
func (p *Plans) PutPlan(_ context.Context, row headcount.Plan) (headcount.Plan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	row.UpdatedAt = headcount.At(p.now())
	p.rows[row.AccountID] = ownPlan(row)
	p.feed.add(row.AccountID)
	return row, nil
}

// DeletePlan removes the account's row and reports whether there was one.
func (p *Plans) DeletePlan(_ context.Context, account string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.rows[account]; !ok {
		return false, nil
	}
	delete(p.rows, account)
	p.feed.add(account)
	return true, nil
}

// ImportPlans replaces the rows of all accounts that plans yields, or none when
// plans yields an error. It returns the number of accounts.
func (p *Plans) ImportPlans(ctx context.Context, plans iter.Seq2[headcount.Plan, error]) (int, error) {
	incoming := map[string]headcount.Plan{}
	for row, err := range plans {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		incoming[row.AccountID] = ownPlan(row)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	updated := headcount.At(p.now())
	for account, row := range incoming {
		row.UpdatedAt = updated
		p.rows[account] = row
		p.feed.add(account)
	}
	return len(incoming), nil
}

// ExportPlans yields all rows by ascending account id, as of the moment the loop
// over it begins.
func (p *Plans) ExportPlans(ctx context.Context) iter.Seq2[headcount.Plan, error] {
	return func(yield func(headcount.Plan, error) bool) {
		p.mu.Lock()
		rows := maps.Clone(p.rows)
		p.mu.Unlock()
		for _, account := range slices.Sorted(maps.Keys(rows)) {
			if err := ctx.Err(); err != nil {
				yield(headcount.Plan{}, err)
				return
			}
			if !yield(ownPlan(rows[account]), nil) {
				return
			}
		}
	}
}

// ownPlan detaches a row from the pointer that its caller or reader may change.
func ownPlan(row headcount.Plan) headcount.Plan {
	if row.MaxStreams != nil {
		limit := *row.MaxStreams
		row.MaxStreams = &limit
	}
	return row
}
