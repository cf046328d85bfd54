package client

import (
	"context"
	"net/http"

	"github.com/headcount-live/headcount"
)

// Streams lists the live streams of any account.
func (a *Admin) Streams(ctx context.Context, account string) (Listing, error) {
	return a.list(ctx, "/admin/v1/accounts/"+segment(account))
}

// ForceStop ends a stream of any account; its player is told so. Error:
// [headcount.CodeStreamNotFound] for one that is not live.
func (a *Admin) ForceStop(ctx context.Context, account, streamID string) error {
	return a.forceStop(ctx, "/admin/v1/accounts/"+segment(account), streamID)
}

// ForceStopAll ends all streams of any account and returns how many there were.
func (a *Admin) ForceStopAll(ctx context.Context, account string) (int, error) {
	return a.forceStopAll(ctx, "/admin/v1/accounts/"+segment(account))
}

// Plan returns the account's row as the database holds it. An account without
// one is [headcount.CodeNotFound].
func (a *Admin) Plan(ctx context.Context, account string) (headcount.Plan, error) {
	var row headcount.Plan
	err := a.call(ctx, http.MethodGet, planPath(account), nil, &row)
	return row, err
}

// PutPlan replaces the account's row and returns it as stored. An empty status
// is active.
func (a *Admin) PutPlan(ctx context.Context, row headcount.Plan) (headcount.Plan, error) {
	body := struct {
		Plan       string           `json:"plan"`
		MaxStreams *int             `json:"max_streams"`
		Status     headcount.Status `json:"status,omitempty"`
	}{row.Plan, row.MaxStreams, row.Status}
	var stored headcount.Plan
	err := a.call(ctx, http.MethodPut, planPath(row.AccountID), body, &stored)
	return stored, err
}

// DeletePlan removes the account's row, so that the default plan holds again, and
// reports whether there was one.
func (a *Admin) DeletePlan(ctx context.Context, account string) (bool, error) {
	var answer struct {
		Deleted bool `json:"deleted"`
	}
	err := a.call(ctx, http.MethodDelete, planPath(account), nil, &answer)
	return answer.Deleted, err
}

func planPath(account string) string { return "/admin/v1/accounts/" + segment(account) + "/plan" }
