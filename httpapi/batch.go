package httpapi

import (
	"context"
	"sync"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
)

// maxBatch is the most heartbeats that one call may carry.
const maxBatch = 1000

// beatBatch is the decoded form of one batch. It is pooled: a thousand requests
// and results are large.
type beatBatch struct {
	reqs    []gate.HeartbeatRequest
	results []gate.BeatResult
	ids     []string // stream_id as JSON text, for the answer; empty where there was none
}

func newBeatBatches() *sync.Pool { return &sync.Pool{New: func() any { return new(beatBatch) }} }

// reset lets go of every view of the body.
func (b *beatBatch) reset() {
	clear(b.reqs)
	clear(b.results)
	clear(b.ids)
	b.reqs, b.results, b.ids = b.reqs[:0], b.results[:0], b.ids[:0]
}

// heartbeatBatch answers POST /v1/streams/heartbeat:batch.
func (s *Server) heartbeatBatch(ctx context.Context, x *exchange) {
	b := s.batches.Get().(*beatBatch)
	defer s.batches.Put(b)
	defer b.reset()
	if fault := b.decode(x); fault != nil {
		x.fail(fault)
		return
	}
	s.gate.HeartbeatBatch(ctx, b.reqs, b.results)
	x.out = append(x.out[:0], `{"results":[`...)
	for i := range b.results {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		x.out = s.appendBeat(x.out, b.ids[i], &b.results[i])
	}
	x.out = append(x.out, "]}"...)
	x.ok()
}

// appendBeat appends the outcome of one item.
func (s *Server) appendBeat(b []byte, id string, r *gate.BeatResult) []byte {
	b = append(b, `{"stream_id":`...)
	if id == "" {
		id = "null"
	}
	b = append(b, id...)
	if r.Err == nil {
		b = append(append(b, `,"ok":true,`...), s.terms...)
		if r.Reregistered {
			b = append(b, `,"re_registered":true`...)
		}
		return append(b, '}')
	}
	e := asError(r.Err)
	b = append(append(append(b, `,"ok":false,"error":"`...), e.Code...), '"')
	if e.Code == headcount.CodeInvalidField {
		b = appendString(append(b, `,"message":`...), e.Message)
	}
	return append(appendAction(b, e), '}')
}

// decode reads the body. A bad item becomes a result with its error, so that it
// harms no other.
func (b *beatBatch) decode(x *exchange) *headcount.Error {
	return x.items("heartbeats", "an array of objects with account_id and stream_id", maxBatch, func() { b.add(x) })
}

const (
	itemAccount = iota
	itemStream
	itemMembers
)

func itemIndex(key string) int {
	switch key {
	case "account_id":
		return itemAccount
	case "stream_id":
		return itemStream
	}
	return -1
}

// add takes the item at which the scanner stands. That it is valid JSON is known
// already.
func (b *beatBatch) add(x *exchange) {
	f := x.fields[:itemMembers]
	clear(f)
	var req gate.HeartbeatRequest
	var fault *headcount.Error
	if x.scan.peek() == '{' {
		x.scan.members(itemIndex, f, false)
		req, fault = item(f)
	} else {
		x.scan.skip(1)
		fault = headcount.Errorf("", "a heartbeat must be an object with account_id and stream_id")
	}
	var result gate.BeatResult
	if fault != nil {
		fault.Code = headcount.CodeInvalidField // whatever is wrong with it
		result.Err = fault
	}
	b.reqs = append(b.reqs, req)
	b.results = append(b.results, result)
	b.ids = append(b.ids, f[itemStream].raw)
	if f[itemStream].kind != kindString {
		b.ids[len(b.ids)-1] = ""
	}
}

func item(f []value) (req gate.HeartbeatRequest, err *headcount.Error) {
	if req.Account, err = f[itemAccount].account(); err != nil {
		return req, err
	}
	if f[itemStream].kind != kindString {
		return req, f[itemStream].absentOr("stream_id", "a string")
	}
	req.StreamID = f[itemStream].text
	return req, nil
}
