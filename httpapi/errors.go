package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/headcount-live/headcount"
)

// statusOf is the one table from code to status. A denied play-start has the
// status that the operator chose.
func statusOf(code headcount.Code, denyStatus int) int {
	switch code {
	case headcount.CodeInvalidJSON, headcount.CodeMissingField, headcount.CodeInvalidField:
		return http.StatusBadRequest
	case headcount.CodeUnauthorized:
		return http.StatusUnauthorized
	case headcount.CodeForbidden, headcount.CodeAccountMismatch, headcount.CodeSubscriptionInactive:
		return http.StatusForbidden
	case headcount.CodeNotFound, headcount.CodeStreamNotFound:
		return http.StatusNotFound
	case headcount.CodeMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case headcount.CodeStreamLimit:
		return denyStatus
	case headcount.CodeLeaseExpired, headcount.CodeStreamStopped:
		return http.StatusGone
	case headcount.CodeBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case headcount.CodeUnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case headcount.CodeRateLimited:
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

// asError returns the [headcount.Error] in err's chain. An error of any other
// type, which nothing here should make, is our fault and asks for a retry.
func asError(err error) *headcount.Error {
	if e, ok := errors.AsType[*headcount.Error](err); ok {
		return e
	}
	return &headcount.Error{
		Code:       headcount.CodeUnavailable,
		Message:    "the service cannot answer now; retry after a moment",
		RetryAfter: time.Second,
		Err:        err,
	}
}

// fail makes err the answer of the exchange.
func (x *exchange) fail(err error) {
	e := asError(err)
	x.status = statusOf(e.Code, x.denyStatus)
	x.failed = e
	x.out = appendError(x.out[:0], e)
	switch e.Code {
	case headcount.CodeUnavailable, headcount.CodeRateLimited:
		x.reply["Retry-After"] = []string{retryAfter(e.RetryAfter)}
	case headcount.CodeUnauthorized:
		x.reply["Www-Authenticate"] = []string{"Bearer"}
	}
}

// appendError appends the body of an error, with the facts that its code has.
func appendError(b []byte, e *headcount.Error) []byte {
	b = append(b, `{"error":"`...)
	b = append(b, e.Code...)
	b = append(b, `","message":`...)
	b = appendString(b, e.Message)
	if e.Field != "" {
		b = append(b, `,"field":`...)
		b = appendString(b, e.Field)
	}
	if e.Denied != nil {
		b = append(b, ',')
		b = appendListing(b, e.Denied.Limit, e.Denied.Active)
		if e.Denied.Degraded {
			b = append(b, `,"degraded":true`...)
		}
	}
	return append(appendAction(b, e), '}')
}

// appendAction appends what a player has to do about the end of its lease.
func appendAction(b []byte, e *headcount.Error) []byte {
	switch {
	case e.Code == headcount.CodeLeaseExpired:
		b = append(b, `,"action":"re_acquire"`...)
	case e.Code == headcount.CodeStreamStopped && e.Ended != nil:
		b = append(b, `,"action":"stop","reason":"`...)
		b = append(b, e.Ended.Reason.String()...)
		b = append(b, `","stopped_at":"`...)
		b = append(e.Ended.StoppedAt.Append(b), '"')
		if len(e.Ended.By) > 0 {
			b = append(b, `,"by":`...)
			b = append(b, e.Ended.By...)
		}
	}
	return b
}
