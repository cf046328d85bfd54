package httpapi

import (
	"net/http"
	"time"

	"github.com/headcount-live/headcount"
)

// endID is the id of the event that ends a stream of events. A browser that
// reconnects with it is told that there is nothing more to come.
const endID = "end"

// streamEvents answers GET /v1/streams/{stream_id}/events. It blocks until the
// stream of that id ends, the reader goes, or the server drains.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, x *exchange) {
	account, fault := x.queryAccount()
	if fault != nil {
		x.fail(fault)
		return
	}
	if r.Header.Get("Last-Event-ID") == endID {
		x.status = http.StatusNoContent
		return
	}
	from := proxies(s.config.TrustedProxies).client(r)
	if fault := s.readers.enter(from); fault != nil {
		x.fail(fault)
		return
	}
	defer s.readers.leave(from)
	ended, err := s.gate.Watch(r.Context(), account, x.args[0])
	if err != nil {
		x.fail(err)
		return
	}
	open := s.metrics.readers.WithLabelValues("stream")
	open.Inc()
	defer open.Dec()

	e := openEvents(w, x, s.readers.jitter(time.Second, 5*time.Second))
	defer e.close()
	if r.Method == http.MethodHead {
		return
	}
	s.follow(e, ended)
}

// follow writes the one event there is to write, and keeps the connection alive
// until then.
func (s *Server) follow(e *eventWriter, ended <-chan headcount.Ended) {
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for e.err == nil {
		select {
		case end, known := <-ended:
			if known {
				_ = e.event(endEvent(end), endID, appendEnd(nil, end))
			}
			return
		case <-s.readers.drain:
			_ = e.retry(s.readers.jitter(5*time.Second, 30*time.Second))
			return
		case <-alive.C:
			_ = e.comment()
		}
	}
}

func endEvent(end headcount.Ended) string {
	if end.Reason == headcount.ReasonExpired {
		return "expired"
	}
	return "stopped"
}

// appendEnd appends the data of the end event.
func appendEnd(b []byte, end headcount.Ended) []byte {
	b = append(append(append(b, `{"reason":"`...), end.Reason.String()...), '"')
	if len(end.By) > 0 {
		b = append(append(b, `,"by":`...), end.By...)
	}
	return append(b, '}')
}
