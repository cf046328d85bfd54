package httpapi

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// keepAlive is how often a silent event stream says something, so that no
	// proxy between takes it for dead.
	keepAlive = 15 * time.Second
	// eventWriteTimeout is how long one write may wait for a reader that does not
	// read before the reader is dropped. A write waits only when the buffers of the
	// connection are full, which takes minutes of events that nobody read; and a
	// drain has to be over within 2 s for a stalled reader too.
	eventWriteTimeout = 2 * time.Second
)

// eventWriter writes server-sent events to one reader (HTML Standard, 9.2). Each
// write has a deadline of its own, so a server's write timeout neither cuts a
// stream nor is needed to get rid of a reader that stopped reading. It is not
// safe for concurrent use.
type eventWriter struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	buf []byte
	err error // the first; every later write fails with it
}

// openEvents begins the answer of x as an event stream and sends what makes a
// client and every proxy on the way know it: the headers, and how long to wait
// before a reconnect.
func openEvents(w http.ResponseWriter, x *exchange, retry time.Duration) *eventWriter {
	e := &eventWriter{w: w, rc: http.NewResponseController(w)}
	x.sent, x.status = true, http.StatusOK
	x.reply.Set("Content-Type", "text/event-stream")
	x.reply.Set("Cache-Control", "no-store, no-transform") // no-transform: compressors buffer
	x.reply.Set("X-Accel-Buffering", "no")
	_ = e.rc.SetReadDeadline(time.Time{}) // the server's read timeout would end the request's context
	_ = e.retry(retry)                    // every later write fails with the same error
	return e
}

// event sends one event. An empty id leaves the reader's last one as it is.
func (e *eventWriter) event(name, id string, data []byte) error {
	b := e.buf[:0]
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	b = append(append(append(b, "event: "...), name...), '\n')
	return e.send(append(appendData(b, data), '\n'))
}

// comment sends a line that readers ignore.
func (e *eventWriter) comment() error { return e.send(append(e.buf[:0], ":\n\n"...)) }

// retry tells the reader how long to wait before it reconnects.
func (e *eventWriter) retry(d time.Duration) error {
	b := strconv.AppendInt(append(e.buf[:0], "retry: "...), d.Milliseconds(), 10)
	return e.send(append(b, "\n\n"...))
}

// close renews the deadline for what net/http writes at the end of the answer,
// unless the reader is lost anyway.
func (e *eventWriter) close() {
	if e.err == nil {
		_ = e.rc.SetWriteDeadline(time.Now().Add(eventWriteTimeout))
	}
}

// send writes b at once, or fails for good. It blocks for at most
// eventWriteTimeout.
func (e *eventWriter) send(b []byte) error {
	e.buf = b
	if e.err != nil {
		return e.err
	}
	_ = e.rc.SetWriteDeadline(time.Now().Add(eventWriteTimeout))
	if _, e.err = e.w.Write(b); e.err == nil {
		e.err = e.rc.Flush()
	}
	return e.err
}

// appendData appends the lines of data. JSON that a device chose may hold line
// breaks between its tokens; each needs a data field of its own.
func appendData(b, data []byte) []byte {
	if !bytes.ContainsAny(data, "\r\n") {
		return append(append(append(b, "data: "...), data...), '\n')
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	for line := range strings.SplitSeq(text, "\n") {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	return b
}
