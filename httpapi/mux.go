package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/headcount-live/headcount"
)

// mux serves one routing table. It is a router of its own because
// [http.ServeMux] cleans paths and redirects, and here a path is literal.
type mux struct {
	root      node
	lost      *route // stands in, in metrics, for paths that no route has
	exchanges sync.Pool
	faults    *faultLog
	access    *slog.Logger // nil: no access log
}

func newMux(routes []route, m *metrics, faults *faultLog, access *slog.Logger, denyStatus int) *mux {
	x := &mux{
		lost:   &route{methods: "", pattern: "unmatched"},
		faults: faults,
		access: access,
	}
	m.bind(x.lost)
	for i := range routes {
		m.bind(&routes[i])
		x.root.add(&routes[i])
	}
	jsonType := []string{"application/json"}
	x.exchanges.New = func() any { return &exchange{denyStatus: denyStatus, jsonType: jsonType} }
	return x
}

// timedOneIn is how many requests share one latency sample: reading the clock
// twice and filing the difference costs more than the rest of the bookkeeping.
const timedOneIn = 8

// ServeHTTP answers r. Whatever goes wrong in a route, the client gets an answer
// with a known code.
func (m *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := m.exchanges.Get().(*exchange)
	x.begin(w, r)
	var start time.Time
	timed := x.turn%timedOneIn == 0 || m.access != nil
	if timed {
		start = time.Now()
	}
	done := false
	defer func() {
		if !done {
			m.recovered(recover(), w, r, x)
		}
	}()
	m.answer(w, r, x)
	if x.failed != nil {
		m.faults.refused(x)
	}
	if !x.sent {
		x.write(w, r.Method)
	}
	x.route.count(x.status)
	if timed {
		m.time(r, x, time.Since(start))
	}
	done = true
	x.forget()
	m.exchanges.Put(x)
}

// answer fills the exchange, or lets a stream route write by itself.
func (m *mux) answer(w http.ResponseWriter, r *http.Request, x *exchange) {
	rt := m.match(r, x)
	if rt == nil {
		return
	}
	if rt.guard != nil {
		if err := rt.guard(r); err != nil {
			x.fail(err)
			return
		}
	}
	if rt.stream != nil {
		rt.stream(w, r, x)
		return
	}
	if rt.limit > 0 {
		if err := x.read(r, rt.limit); err != nil {
			x.fail(err)
			return
		}
	}
	rt.call(r.Context(), x)
}

// match returns the route of the request, or nil when the exchange is answered:
// no such path, no such method, or a preflight.
func (m *mux) match(r *http.Request, x *exchange) *route {
	x.route = m.lost
	var at *node
	if n, ok := segments(r.URL, &x.segs); ok {
		at = m.root.find(x.segs[:n], x.args[:])
	}
	if at == nil {
		x.fail(headcount.Errorf(headcount.CodeNotFound, "there is nothing at this path; see /openapi.yaml for what there is"))
		return nil
	}
	for _, rt := range at.routes {
		if rt.takes(r.Method) {
			x.route = rt
			rt.origins.allow(x)
			return rt
		}
	}
	first := at.routes[0]
	x.reply["Allow"] = []string{at.allow + ", OPTIONS"}
	first.origins.allow(x)
	if r.Method == http.MethodOptions {
		first.origins.preflight(x, at.allow)
		x.status = http.StatusNoContent
		return nil
	}
	x.fail(headcount.Errorf(headcount.CodeMethodNotAllowed, "this path takes %s, not %q", at.allow, r.Method))
	return nil
}

// recovered is the last line: a panic is logged and becomes a 503. Where the
// answer has begun already, only cutting the connection tells the client.
func (m *mux) recovered(cause any, w http.ResponseWriter, r *http.Request, x *exchange) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	m.faults.panicked(x.route, cause)
	if x.sent {
		panic(http.ErrAbortHandler)
	}
	x.fail(headcount.Errorf(headcount.CodeUnavailable, "the service cannot answer now; retry after a moment"))
	x.route.count(x.status)
	x.write(w, r.Method)
}

// time files how long the exchange took.
func (m *mux) time(r *http.Request, x *exchange, took time.Duration) {
	if x.turn%timedOneIn == 0 && x.route.stream == nil {
		x.route.timing.Observe(took.Seconds())
	}
	if m.access != nil {
		m.access.LogAttrs(context.Background(), slog.LevelInfo, "request",
			slog.String("method", r.Method), slog.String("route", x.route.pattern),
			slog.Int("status", x.status), slog.Int("bytes", len(x.out)), slog.Duration("took", took))
	}
}
