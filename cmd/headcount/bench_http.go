package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/headcount-live/headcount/load"
)

// BenchHTTPCmd loads a running server and prints what it saw.
type BenchHTTPCmd struct {
	URL         string        `name:"url" default:"http://127.0.0.1:8080" help:"Server to load (${default}). Point it at your own: it presses play for thousands of made-up accounts."`
	Connections int           `default:"64" help:"Connections, one request at a time on each (${default})."`
	Duration    time.Duration `default:"10s" help:"Length of the measurement (${default})."`
	Warmup      time.Duration `default:"1s" help:"Same load before it, not counted (${default})."`
	Mix         string        `default:"play=1,renew=20,stop=1" placeholder:"KIND=N,..." help:"Weights of play, renew, stop, list, beat, leave and count (${default})."`
	Rate        float64       `placeholder:"N" help:"Requests a second at fixed moments; latency runs from that moment. Without it, as fast as answers come."`
	Spin        bool          `help:"Never sleep while waiting, so that a server on this machine does not pay for waking the load; takes whole cores."`
	Accounts    int           `default:"10000" help:"Accounts, two devices each; half of these play from the beginning (${default})."`
	Sessions    int           `default:"100000" help:"Sessions that look at pages (${default})."`
	Pages       int           `default:"10000" help:"Pages they look at; one in a thousand holds 40 % of them (${default})."`
	Seed        uint64        `default:"1" help:"The same seed means the same accounts and sessions; generators that run at the same time need different ones."`
	Timeout     time.Duration `default:"10s" help:"Longest wait for an answer (${default})."`
}

// Run prints one JSON line when it is done, and how far it is to a terminal.
func (c *BenchHTTPCmd) Run(ctx context.Context, env *Env) error {
	mix, err := load.ParseMix(c.Mix)
	if err != nil {
		return &usageError{err}
	}
	config := load.HTTPConfig{
		URL: c.URL, Connections: c.Connections, Duration: c.Duration, Warmup: c.Warmup, Mix: mix, Rate: c.Rate, Spin: c.Spin,
		Accounts: c.Accounts, Sessions: c.Sessions, Pages: c.Pages, Seed: c.Seed, Timeout: c.Timeout,
	}
	if err := config.Check(); err != nil {
		return &usageError{err}
	}
	if file, ok := env.Stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		config.Progress = func(p load.HTTPProgress) {
			fmt.Fprintf(file, "\r\x1b[K%s: %.0f s, %d answers, %d errors", p.Phase, p.Elapsed.Seconds(), p.Requests, p.Errors)
		}
		defer fmt.Fprint(file, "\r\x1b[K")
	}
	report, err := load.RunHTTP(ctx, config)
	if err != nil {
		return err
	}
	return json.NewEncoder(env.Stdout).Encode(report)
}
