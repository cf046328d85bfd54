package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
)

// faultLog writes one line per cause and period, whatever clients send: a broken
// player on a million screens must not fill a disk. Causes are routes and codes,
// so their number is bounded; the number of the others is kept for the next line.
type faultLog struct {
	logger *slog.Logger
	period time.Duration
	panics prometheus.Counter

	mu     sync.Mutex
	causes map[string]*faultCause
}

type faultCause struct {
	last       time.Time
	suppressed int
}

func newFaultLog(logger *slog.Logger, period time.Duration, panics prometheus.Counter) *faultLog {
	return &faultLog{logger: logger, period: period, panics: panics, causes: make(map[string]*faultCause)}
}

// due reports whether the cause may be logged now, and how many were not since
// the last time.
func (f *faultLog) due(cause string) (suppressed int, due bool) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.causes[cause]
	if c == nil {
		f.causes[cause] = &faultCause{last: now}
		return 0, true
	}
	if now.Sub(c.last) < f.period {
		c.suppressed++
		return 0, false
	}
	suppressed = c.suppressed
	c.last, c.suppressed = now, 0
	return suppressed, true
}

// refused logs an answer that tells of a broken client or of a fault of ours.
// Denials, ends and unknown paths are everyday answers and are only counted.
func (f *faultLog) refused(x *exchange) {
	e := x.failed
	switch e.Code {
	case headcount.CodeInvalidJSON, headcount.CodeMissingField, headcount.CodeInvalidField,
		headcount.CodeBodyTooLarge, headcount.CodeUnsupportedMediaType:
		if attrs, due := f.describe(x.route, e); due {
			f.logger.LogAttrs(context.Background(), slog.LevelInfo, "bad request", attrs...)
		}
	case headcount.CodeUnavailable:
		if attrs, due := f.describe(x.route, e); due {
			f.logger.LogAttrs(context.Background(), slog.LevelWarn, "request failed", attrs...)
		}
	}
}

// describe returns what to log of an error, if it is due.
func (f *faultLog) describe(rt *route, e *headcount.Error) (attrs []slog.Attr, due bool) {
	suppressed, due := f.due(rt.pattern + " " + string(e.Code))
	if !due {
		return nil, false
	}
	attrs = []slog.Attr{
		slog.String("route", rt.pattern), slog.String("code", string(e.Code)),
		slog.String("message", e.Message), slog.Int("suppressed", suppressed),
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("cause", e.Err))
	}
	return attrs, true
}

// panicked logs a bug with the stack that shows it.
func (f *faultLog) panicked(rt *route, cause any) {
	f.panics.Inc()
	if suppressed, due := f.due(rt.pattern + " panic"); due {
		f.logger.Error("panic", slog.String("route", rt.pattern), slog.String("cause", fmt.Sprint(cause)),
			slog.String("stack", string(debug.Stack())), slog.Int("suppressed", suppressed))
	}
}

// Write takes the lines of net/http's own error log, all as one cause.
func (f *faultLog) Write(line []byte) (int, error) {
	if suppressed, due := f.due("net/http"); due {
		f.logger.Warn("connection", slog.String("message", strings.TrimSpace(string(line))), slog.Int("suppressed", suppressed))
	}
	return len(line), nil
}
