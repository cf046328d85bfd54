package sqldb

import (
	"database/sql"
	"strings"
	"time"

	"github.com/headcount-live/headcount"
)

// scanPlan reads account_id, plan, max_streams, status, updated_at. The table
// refuses most nonsense, but not in a database where an operator made it, or
// switched the checks off: what is left is read in the account's favour, because
// one bad row must neither deny a payer nor hide the others.
func scanPlan(rows *sql.Rows) (headcount.Plan, error) {
	var account, plan, status sql.NullString
	var limit, updated any
	if err := rows.Scan(&account, &plan, &limit, &status, &updated); err != nil {
		return headcount.Plan{}, err
	}
	p := headcount.Plan{
		AccountID:  account.String,
		Plan:       plan.String,
		MaxStreams: maxStreams(limit),
		Status:     headcount.Status(status.String),
		UpdatedAt:  timestamp(updated),
	}
	if !p.Status.Valid() {
		p.Status = headcount.StatusActive
	}
	return p, nil
}

// maxStreams returns the row's own limit: none unless it is a number from 0 up,
// the largest there is for one beyond.
func maxStreams(v any) *int {
	n, ok := v.(int64)
	if !ok || n < 0 {
		return nil
	}
	limit := int(min(n, headcount.MaxStreamsLimit))
	return &limit
}

// timestamp reads updated_at as the service writes it and as people do; 0 stands
// for what is no time.
func timestamp(v any) headcount.Timestamp {
	switch v := v.(type) {
	case time.Time:
		return headcount.At(v)
	case string:
		for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04:05Z07:00", time.DateOnly} {
			if at, err := time.Parse(layout, strings.TrimSpace(v)); err == nil {
				return headcount.At(at)
			}
		}
	}
	return 0
}
