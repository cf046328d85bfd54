package gate

import (
	"time"

	"github.com/headcount-live/headcount"
)

func inactiveError(s headcount.Status) error {
	return headcount.Errorf(headcount.CodeSubscriptionInactive,
		"the subscription of this account is %s, so no new stream may start; running streams go on", s)
}

func deniedError(limit int, active []headcount.Lease) error {
	err := headcount.Errorf(headcount.CodeStreamLimit,
		"this account may play %d at once and all are taken; stop one in active, or name it as replace_stream_id", limit)
	if limit == 0 {
		err.Message = "the plan of this account allows no streams; change the plan"
	}
	err.Denied = &headcount.Denied{Limit: limit, Active: active}
	return err
}

func expiredError() error {
	return &headcount.Error{
		Code:    headcount.CodeLeaseExpired,
		Message: "this stream is not live on this account: its lease expired, was released or never was; press play again",
	}
}

func stoppedError(ended headcount.Ended) error {
	message := "somebody stopped this stream; stop playing, and start again only when the viewer asks for it"
	if ended.Reason == headcount.ReasonReplaced {
		message = "this device started another stream in place of this one; stop playing this one"
	}
	return &headcount.Error{Code: headcount.CodeStreamStopped, Message: message, Ended: &ended}
}

func notFoundError() error {
	return &headcount.Error{
		Code:    headcount.CodeStreamNotFound,
		Message: "no such stream is live on this account; list its streams to see those that are",
	}
}

// unmintedError blames the machine: its source of randomness failed.
func unmintedError(err error) error {
	return &headcount.Error{
		Code:       headcount.CodeUnavailable,
		Message:    "no stream id can be made now; retry after a moment",
		RetryAfter: time.Second,
		Err:        err,
	}
}
