package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// httpWorker drives its share of the connections and viewers from one goroutine,
// so that nothing is shared while requests fly.
type httpWorker struct {
	config   *HTTPConfig
	address  string
	clock    func() time.Duration
	random   *rand.Rand
	requests *requests

	people    *population
	firstSlot uint32 // number of its slot 0 among all workers'
	sessions  uint32
	firstOne  uint32 // number of its session 0 among all workers'
	nextOne   uint32
	poll      *poller
	conns     []*connection
	idle      []*connection
	underWay  int
	tallies   [kinds]*tally
	answers   atomic.Int64 // since the start, for the progress
	errors    atomic.Int64
	lastSweep time.Duration
}

// sweepInterval is how often silent and broken connections are looked for.
const sweepInterval = 100 * time.Millisecond

// connect opens all connections, or says why not.
func (w *httpWorker) connect() error {
	for _, c := range w.conns {
		if err := w.reopen(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *httpWorker) reopen(c *connection) error {
	if err := c.open(w.address); err != nil {
		return err
	}
	if err := w.poll.add(c.fd, c.index); err != nil {
		c.close()
		return err
	}
	w.idle = append(w.idle, c)
	return nil
}

// run sends what p makes due, of the kinds that pick draws, until nothing more
// is due and all is answered or given up.
func (w *httpWorker) run(ctx context.Context, p *pace, pick func() Kind) error {
	for i := range w.tallies {
		w.tallies[i] = newTally()
	}
	for {
		now := w.clock()
		w.dispatch(now, p, pick)
		if now-w.lastSweep >= sweepInterval {
			if err := w.sweep(ctx, now, p.end == 0); err != nil {
				return err
			}
		}
		next, more := p.next(now)
		if !more && w.underWay == 0 {
			return nil
		}
		timeout := sweepInterval
		if more && len(w.idle) > 0 {
			timeout = min(timeout, next-now)
		}
		if w.config.Spin {
			timeout = 0
		}
		ready, err := w.poll.wait(timeout)
		if err != nil {
			return err
		}
		for _, event := range ready {
			now = w.clock()
			w.read(w.conns[event.Fd], now)
			w.dispatch(now, p, pick)
		}
	}
}

// dispatch sends requests that are due on connections that are idle.
func (w *httpWorker) dispatch(now time.Duration, p *pace, pick func() Kind) {
	for len(w.idle) > 0 {
		due, ok := p.take(now)
		if !ok {
			return
		}
		c := w.idle[len(w.idle)-1]
		w.idle = w.idle[:len(w.idle)-1]
		w.prepare(c, pick())
		c.busy, c.due, c.at = true, due, now
		w.underWay++
		if err := c.send(); err != nil {
			w.fail(c, causeClosed)
		}
	}
}

// prepare writes a request of the kind about the next viewer into c.
func (w *httpWorker) prepare(c *connection, k Kind) {
	if k >= Beat {
		c.kind, c.slot = k, w.nextOne
		w.nextOne = (w.nextOne + 1) % w.sessions
		c.out = w.requests.page(c.out[:0], k, w.firstOne+c.slot)
		return
	}
	c.kind, c.slot = w.people.take(k)
	c.out = w.requests.stream(c.out[:0], c.kind, w.firstSlot+c.slot, w.people.streams[c.slot])
}

// read takes what has arrived on c and settles the request if it is answered. The
// clock is read once for the answer and for the next request.
func (w *httpWorker) read(c *connection, now time.Duration) {
	a, complete, err := c.receive()
	switch {
	case errors.Is(err, errClosed):
		w.fail(c, causeClosed)
	case err != nil:
		w.fail(c, causeBadAnswer)
	case complete:
		w.settle(c, a, now)
	}
}

// settle counts an answer and gives the connection its next turn.
func (w *httpWorker) settle(c *connection, a answer, now time.Duration) {
	if !c.busy {
		w.fail(c, causeBadAnswer) // an answer to nothing
		return
	}
	var streamID []byte
	if c.kind == Play && a.status == 200 {
		if streamID = findStreamID(a.body); streamID == nil {
			w.fail(c, causeBadAnswer)
			return
		}
	}
	c.busy = false
	w.underWay--
	w.answers.Add(1)
	if a.status/100 == 2 {
		w.tallies[c.kind].latencies.Record(now - c.due)
	} else {
		w.tallies[c.kind].statuses[a.status]++
		w.errors.Add(1)
	}
	if c.kind < Beat {
		w.people.settle(c.kind, c.slot, a.status, streamID)
	}
	if !a.close {
		w.idle = append(w.idle, c)
		return
	}
	c.close()
	_ = w.reopen(c) // where that fails, the sweep tries again
}

// findStreamID returns the stream_id in the body of a play-start's answer, nil if
// there is none. Stream ids are URL-safe, so none holds a quote.
func findStreamID(body []byte) []byte {
	_, rest, ok := bytes.Cut(body, []byte(`"stream_id":"`))
	if !ok {
		return nil
	}
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || len(id) == 0 {
		return nil
	}
	return id
}

// fail gives a connection up, counts its request if one is under way, and
// connects anew.
func (w *httpWorker) fail(c *connection, cause string) {
	if c.busy {
		c.busy = false
		w.underWay--
		w.tallies[c.kind].causes[cause]++
		w.errors.Add(1)
		if c.kind < Beat {
			w.people.settle(c.kind, c.slot, 0, nil)
		}
	}
	for i, idle := range w.idle {
		if idle == c {
			w.idle = append(w.idle[:i], w.idle[i+1:]...)
			break
		}
	}
	c.close()
	_ = w.reopen(c) // where that fails, the sweep tries again
}

// sweep gives up what waits too long, and connects what is broken. Without any
// connection a phase that has no end would have none at all, so it fails.
func (w *httpWorker) sweep(ctx context.Context, now time.Duration, endless bool) error {
	w.lastSweep = now
	broken := 0
	for _, c := range w.conns {
		switch {
		case c.busy && now-c.at > w.config.Timeout:
			w.fail(c, causeTimeout)
		case c.fd < 0 && w.reopen(c) != nil:
			broken++
		}
	}
	if endless && broken == len(w.conns) {
		return fmt.Errorf("lost all connections to %s while filling it; see the server's log", w.config.URL)
	}
	return ctx.Err()
}

func (w *httpWorker) close() {
	for _, c := range w.conns {
		c.close()
	}
	w.poll.close()
}
