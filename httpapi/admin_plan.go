package httpapi

import (
	"context"
	"strconv"
	"strings"

	"github.com/headcount-live/headcount"
)

// getPlan answers GET /admin/v1/accounts/{account_id}/plan with the account's
// row as the database holds it now.
func (s *Server) getPlan(ctx context.Context, x *exchange) {
	account := x.args[0]
	if fault := checkAccount(account); fault != nil {
		x.fail(fault)
		return
	}
	row, ok, err := s.plans.Row(ctx, account)
	switch {
	case err != nil:
		x.fail(err)
	case !ok:
		x.fail(headcount.Errorf(headcount.CodeNotFound, "this account has no row; the default plan, %s, holds", s.plans.DefaultPlan))
	default:
		x.plan(row)
	}
}

// putPlan answers PUT /admin/v1/accounts/{account_id}/plan: the row is replaced.
func (s *Server) putPlan(ctx context.Context, x *exchange) {
	row, fault := x.planRequest()
	if fault != nil {
		x.fail(fault)
		return
	}
	stored, err := s.plans.Put(ctx, row)
	if err != nil {
		x.fail(err)
		return
	}
	x.plan(stored)
}

// deletePlan answers DELETE /admin/v1/accounts/{account_id}/plan.
func (s *Server) deletePlan(ctx context.Context, x *exchange) {
	account := x.args[0]
	if fault := checkAccount(account); fault != nil {
		x.fail(fault)
		return
	}
	had, err := s.plans.Delete(ctx, account)
	if err != nil {
		x.fail(err)
		return
	}
	x.out = append(x.out[:0], `{"ok":true,"deleted":`...)
	x.out = append(strconv.AppendBool(x.out, had), '}')
	x.ok()
}

// The members of a plan, in the order in which their faults are told.
const (
	planName = iota
	planMaxStreams
	planStatus
	planMembers
)

func planIndex(key string) int {
	switch key {
	case "plan":
		return planName
	case "max_streams":
		return planMaxStreams
	case "status":
		return planStatus
	}
	return -1
}

// planRequest decodes a row. It copies its strings: stores may keep them.
func (x *exchange) planRequest() (row headcount.Plan, err *headcount.Error) {
	row.AccountID = x.args[0]
	if err = checkAccount(row.AccountID); err != nil {
		return row, err
	}
	f := x.fields[:planMembers]
	if err = x.scan.object(x.body, planIndex, f); err != nil {
		return row, err
	}
	name, err := f[planName].id("plan", headcount.MaxIDLen)
	if err != nil {
		return row, err
	}
	if row.MaxStreams, err = f[planMaxStreams].maxStreams(); err != nil {
		return row, err
	}
	status, err := f[planStatus].str("status")
	if f[planStatus].kind != kindString {
		status = string(headcount.StatusActive)
	}
	row.Plan = strings.Clone(name)
	row.Status = headcount.Status(strings.Clone(status))
	return row, err
}

// maxStreams returns the number that v holds, nil where none was given.
func (v *value) maxStreams() (*int, *headcount.Error) {
	switch v.kind {
	case kindAbsent, kindNull:
		return nil, nil
	case kindNumber:
		if n, err := strconv.Atoi(v.raw); err == nil {
			return &n, nil
		}
	}
	return nil, headcount.FieldError(headcount.CodeInvalidField, "max_streams", "max_streams must be an integer from 0 to %d, or null", headcount.MaxStreamsLimit)
}

// plan makes a row the answer.
func (x *exchange) plan(row headcount.Plan) {
	x.out = appendPlan(x.out[:0], row)
	x.ok()
}

func appendPlan(b []byte, row headcount.Plan) []byte {
	b = appendString(append(b, `{"account_id":`...), row.AccountID)
	b = appendString(append(b, `,"plan":`...), row.Plan)
	b = append(b, `,"max_streams":`...)
	if row.MaxStreams != nil {
		b = strconv.AppendInt(b, int64(*row.MaxStreams), 10)
	} else {
		b = append(b, "null"...)
	}
	b = appendString(append(b, `,"status":`...), string(row.Status))
	b = row.UpdatedAt.Append(append(b, `,"updated_at":"`...))
	return append(b, `"}`...)
}
