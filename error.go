package headcount

import (
	"errors"
	"fmt"
	"time"
)

// Code names one kind of failure. It travels in the body of every error answer,
// so a client rebuilds the same [Error] whatever the status was.
type Code string

// The codes of the API, with the HTTP status that httpapi gives each.
const (
	CodeInvalidJSON          Code = "invalid_json"            // 400
	CodeMissingField         Code = "missing_field"           // 400
	CodeInvalidField         Code = "invalid_field"           // 400
	CodeUnauthorized         Code = "unauthorized"            // 401
	CodeForbidden            Code = "forbidden"               // 403
	CodeAccountMismatch      Code = "account_mismatch"        // 403
	CodeSubscriptionInactive Code = "subscription_inactive"   // 403
	CodeNotFound             Code = "not_found"               // 404
	CodeStreamNotFound       Code = "stream_not_found"        // 404
	CodeMethodNotAllowed     Code = "method_not_allowed"      // 405
	CodeStreamLimit          Code = "concurrent_stream_limit" // 409 unless configured
	CodeLeaseExpired         Code = "lease_expired"           // 410
	CodeStreamStopped        Code = "stream_stopped"          // 410
	CodeBodyTooLarge         Code = "body_too_large"          // 413
	CodeUnsupportedMediaType Code = "unsupported_media_type"  // 415
	CodeRateLimited          Code = "rate_limited"            // 429
	CodeUnavailable          Code = "unavailable"             // 503
)

// Error is the one error type of the service: a code for programs, a message for
// the developer who reads it, and facts where the code has some.
type Error struct {
	Code       Code
	Message    string        // public: one sentence a developer can act on
	Field      string        // the field at fault, if one is
	RetryAfter time.Duration // with CodeRateLimited and CodeUnavailable
	Denied     *Denied       // with CodeStreamLimit
	Ended      *Ended        // with CodeStreamStopped
	Err        error         // private cause: logged, never sent
}

// Denied holds the facts of a play-start that found no room.
type Denied struct {
	Limit    int     `json:"limit"`
	Active   []Lease `json:"active"`             // oldest first
	Degraded bool    `json:"degraded,omitempty"` // decided without the live-state store
}

// Error returns the public message, and the private cause behind it.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an [Error] with a code and a public message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// FieldError returns an [Error] that blames one field of a request.
func FieldError(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Unavailable wraps a store's failure: the public part asks for a retry, the
// cause stays private.
func Unavailable(cause error) *Error {
	return &Error{
		Code:       CodeUnavailable,
		Message:    "the live-state store cannot be reached; retry after a moment",
		RetryAfter: time.Second,
		Err:        cause,
	}
}

// ErrorCode returns the code of the first [Error] in err's chain, "" for nil and
// [CodeUnavailable] for an error of any other type.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeUnavailable
}
