package httpapi

import (
	"context"

	"github.com/headcount-live/headcount"
)

func releaseIndex(key string) int {
	if key == "account_id" {
		return 0
	}
	return -1
}

// release answers DELETE /v1/streams/{stream_id} and the beacons' POST
// /v1/streams/{stream_id}/release.
func (s *Server) release(ctx context.Context, x *exchange) {
	account, fault := x.releaseAccount()
	if fault != nil {
		x.fail(fault)
		return
	}
	if err := s.gate.Release(ctx, account, x.args[0]); err != nil {
		x.fail(err)
		return
	}
	x.done()
}

// releaseAccount returns the account that the body names, or else the query. The
// body wins, because the query may be no more than a proxy's routing hint.
func (x *exchange) releaseAccount() (string, *headcount.Error) {
	if len(x.body) > 0 {
		f := x.fields[:1]
		if err := x.scan.object(x.body, releaseIndex, f); err != nil {
			return "", err
		}
		if f[0].kind != kindAbsent && f[0].kind != kindNull {
			return f[0].account()
		}
	}
	return x.queryAccount()
}

// queryAccount returns the account that the query names.
func (x *exchange) queryAccount() (string, *headcount.Error) {
	account, times := queryValue(x.query, "account_id")
	switch {
	case times == 0:
		return "", headcount.FieldError(headcount.CodeMissingField, "account_id", "account_id is required; give it as a query parameter")
	case times > 1:
		return "", headcount.FieldError(headcount.CodeInvalidField, "account_id", "account_id is given twice in the query")
	}
	return account, checkAccount(account)
}

// done makes {"ok":true} the answer.
func (x *exchange) done() {
	x.out = append(x.out[:0], `{"ok":true}`...)
	x.ok()
}

func checkAccount(account string) *headcount.Error {
	if err := headcount.CheckID("account_id", account, headcount.MaxIDLen); err != nil {
		return asError(err)
	}
	return nil
}
