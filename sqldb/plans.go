package sqldb

import (
	"context"
	"fmt"
	"iter"

	"github.com/headcount-live/headcount"
)

type rowSeq = iter.Seq2[headcount.Plan, error]

// Plans returns the rows of the accounts that have one, in one query. A row that
// plain SQL left in a state that the API would refuse is read in the account's
// favour.
func (p *Plans) Plans(ctx context.Context, accounts []string) ([]headcount.Plan, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	list, err := p.dialect.accounts(accounts)
	if err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	rows, err := p.read.QueryContext(ctx, p.dialect.selectPlans, list)
	if err != nil {
		return nil, fmt.Errorf("reading plans: %w", err)
	}
	defer rows.Close()
	plans := make([]headcount.Plan, 0, len(accounts))
	for rows.Next() {
		plan, err := scanPlan(rows)
		if err != nil {
			return nil, fmt.Errorf("reading plans: %w", err)
		}
		plans = append(plans, plan)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading plans: %w", err)
	}
	return plans, nil
}

// PutPlan replaces the account's row and returns it with its UpdatedAt, by the
// database's clock. It waits for other writers for up to five seconds.
func (p *Plans) PutPlan(ctx context.Context, row headcount.Plan) (headcount.Plan, error) {
	var updated any
	err := p.write.QueryRowContext(ctx, p.dialect.putPlan, row.AccountID, row.Plan, row.MaxStreams, string(row.Status)).Scan(&updated)
	if err != nil {
		return headcount.Plan{}, fmt.Errorf("writing the plan of %q: %w", row.AccountID, err)
	}
	row.UpdatedAt = timestamp(updated)
	return row, nil
}

// DeletePlan removes the account's row and reports whether there was one.
func (p *Plans) DeletePlan(ctx context.Context, account string) (bool, error) {
	result, err := p.write.ExecContext(ctx, p.dialect.deletePlan, account)
	if err != nil {
		return false, fmt.Errorf("deleting the plan of %q: %w", account, err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// ImportPlans replaces the rows of all accounts that plans yields in one
// transaction, which begins when plans has ended: a slow source holds up neither
// readers nor writers, and an end at any point leaves the table as it was. Of an
// account named twice the later row holds. It returns the number of accounts.
func (p *Plans) ImportPlans(ctx context.Context, plans iter.Seq2[headcount.Plan, error]) (int, error) {
	return p.dialect.importPlans(ctx, plans)
}

// ExportPlans yields all rows by ascending bytes of the account id, as of the
// moment the loop over it begins. Rows that plain SQL gave an id which no request
// can name are left out, and their number is logged.
func (p *Plans) ExportPlans(ctx context.Context) iter.Seq2[headcount.Plan, error] {
	return func(yield func(headcount.Plan, error) bool) {
		fail := func(err error) { yield(headcount.Plan{}, fmt.Errorf("exporting plans: %w", err)) }
		rows, err := p.read.QueryContext(ctx, p.dialect.exportPlans)
		if err != nil {
			fail(err)
			return
		}
		defer rows.Close()
		unusable := 0
		for rows.Next() {
			plan, err := scanPlan(rows)
			if err != nil {
				fail(err)
				return
			}
			if headcount.CheckID("account_id", plan.AccountID, headcount.MaxIDLen) != nil {
				unusable++
				continue
			}
			if !yield(plan, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			fail(err)
			return
		}
		if unusable > 0 {
			p.logger.Warn("rows left out of the export: their account_id is empty, too long or holds a control character", "rows", unusable)
		}
	}
}
