package httpapi

import (
	"context"
	"strconv"
	"sync"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

// presenceBatch is the decoded form of one batch, pooled because it is large.
type presenceBatch struct {
	beats []crowd.Beat
}

func newPresenceBatches() *sync.Pool {
	return &sync.Pool{New: func() any { return new(presenceBatch) }}
}

// reset lets go of every view of the body.
func (b *presenceBatch) reset() {
	clear(b.beats)
	b.beats = b.beats[:0]
}

// presenceBeats answers POST /api/v1/presence/heartbeat:batch. Bad items are
// skipped; accepted is how many of the others count.
func (s *Server) presenceBeats(_ context.Context, x *exchange) {
	b := s.presences.Get().(*presenceBatch)
	defer s.presences.Put(b)
	defer b.reset()
	fault := x.items("heartbeats", "an array of objects with page_id and session_id", maxBatch, func() {
		f := x.fields[:presenceMembers]
		clear(f)
		if x.scan.peek() != '{' {
			x.scan.skip(1)
			return
		}
		x.scan.members(presenceIndex, f, false)
		if page, session, fault := presenceIDs(f); fault == nil {
			b.beats = append(b.beats, crowd.Beat{Page: page, Session: session})
		}
	})
	if fault != nil {
		x.fail(fault)
		return
	}
	accepted := s.crowd.BeatBatch(b.beats, s.visitor(x))
	x.out = append(x.out[:0], `{"accepted":`...)
	x.out = append(strconv.AppendInt(x.out, int64(accepted), 10), '}')
	x.ok()
}

// items decodes a body of one member, an array of no more than most items, and calls
// take with the scanner at each. That an item is valid JSON is known by then.
func (x *exchange) items(field, expected string, most int, take func()) *headcount.Error {
	f := x.fields[:1]
	err := x.scan.object(x.body, func(key string) int {
		if key == field {
			return 0
		}
		return -1
	}, f)
	if err != nil {
		return err
	}
	if f[0].kind != kindArray {
		return f[0].absentOr(field, expected)
	}
	x.scan.pos = f[0].at + 1
	x.scan.space()
	if x.scan.peek() == ']' {
		return nil
	}
	n := 0
	for more := true; more; more, _ = x.scan.next(']') {
		if n++; n > most {
			return headcount.FieldError(headcount.CodeInvalidField, field,
				"%s holds more than %d; split them over several calls", field, most)
		}
		take()
	}
	return nil
}
