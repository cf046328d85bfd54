package load

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"time"
)

// HTTPConfig says what the generator sends, where and for how long.
type HTTPConfig struct {
	URL         string        // base of the server, such as http://127.0.0.1:8080; plain HTTP only
	Connections int           // kept alive, one request at a time on each
	Duration    time.Duration // of the measurement, after Warmup
	Warmup      time.Duration // the same load, not counted
	Mix         Mix

	// Rate, above zero, is an open loop of that many requests a second: each has
	// its moment, whether earlier ones were answered or not, and its latency runs
	// from that moment, so that a slow server cannot hide its queue (the
	// "coordinated omission" of Gil Tene). Zero is a closed loop: a connection
	// sends its next request when it has the answer to the last.
	Rate float64

	// Spin keeps the generator awake while it waits for answers. It takes whole
	// cores for that, and spares the server the cost of waking it, which a server
	// on the same machine pays in every write and one with clients elsewhere does
	// not. An open loop spins by itself when the next request is less than a
	// millisecond away.
	Spin bool

	Accounts int           // with two devices each; half of these play from the beginning
	Sessions int           // viewers of pages
	Pages    int           // that they look at, with a skew
	Seed     uint64        // of everything random; the same seed means the same viewers
	Timeout  time.Duration // of one request, after which its connection is given up

	// Progress, if set, is called about once a second while requests are sent.
	Progress func(HTTPProgress)
}

// HTTPProgress is how far a run has come.
type HTTPProgress struct {
	Phase    string // fill, warm up or measure
	Elapsed  time.Duration
	Requests int64 // answered in this phase
	Errors   int64
}

// Check reports what is wrong with c, in words that name the setting.
func (c *HTTPConfig) Check() error {
	target, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return fmt.Errorf("the URL cannot be read: %w", err)
	case target.Scheme != "http" || target.Host == "":
		return fmt.Errorf("the URL is %q; it must be like http://127.0.0.1:8080 (TLS is not spoken: measure behind it)", c.URL)
	case c.Connections < 1:
		return errors.New("connections must be at least 1")
	case c.Duration <= 0:
		return errors.New("duration must be above 0")
	case c.Warmup < 0 || c.Rate < 0:
		return errors.New("warmup and rate must not be negative")
	case c.Timeout <= 0:
		return errors.New("timeout must be above 0")
	case c.Mix.total() == 0:
		return errors.New("the mix is empty; give at least one kind a weight, such as renew=1")
	case c.Mix.streams() && (c.Accounts < c.Connections || c.Accounts > maxAccounts):
		return fmt.Errorf("accounts must be from connections (%d), so that everybody is not waiting for an answer at once, to %d", c.Connections, maxAccounts)
	case c.Mix.pages() && (c.Sessions < c.Connections || c.Pages < 1):
		return fmt.Errorf("sessions must be at least connections (%d), and pages at least 1", c.Connections)
	}
	return nil
}

// phases of a run, in their order.
const (
	phaseFill    = "fill"
	phaseWarmup  = "warm up"
	phaseMeasure = "measure"
)

// RunHTTP fills the server with viewers, warms it up, measures, and returns what
// it saw. It blocks until then, or until ctx ends, whose error it returns. A
// server that cannot be reached at the beginning is an error; one that fails
// later is counted.
func RunHTTP(ctx context.Context, c HTTPConfig) (*HTTPReport, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	fleet, err := newFleet(c, min(runtime.GOMAXPROCS(0), c.Connections))
	if err != nil {
		return nil, err
	}
	defer fleet.close()
	if _, err := fleet.run(ctx, phaseFill, 0); err != nil {
		return nil, err
	}
	if c.Warmup > 0 {
		if _, err := fleet.run(ctx, phaseWarmup, c.Warmup); err != nil {
			return nil, err
		}
	}
	elapsed, err := fleet.run(ctx, phaseMeasure, c.Duration)
	if err != nil {
		return nil, err
	}
	return fleet.report(elapsed), nil
}
