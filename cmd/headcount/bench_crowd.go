package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/headcount-live/headcount/load"
)

// BenchCrowdCmd measures the counting of pages in this process.
type BenchCrowdCmd struct {
	Pages    int           `default:"1000000" help:"Pages; a thousand of them hold 40 % of the viewers (${default})."`
	Sessions int           `default:"10000000" help:"Viewers (${default}); ten million take half a gigabyte."`
	Duration time.Duration `default:"5s" help:"Length of each measured phase (${default})."`
}

// Run prints one JSON line when it is done.
func (c *BenchCrowdCmd) Run(ctx context.Context, env *Env) error {
	config := load.CrowdConfig{Pages: c.Pages, Sessions: c.Sessions, Duration: c.Duration}
	if err := config.Check(); err != nil {
		return &usageError{err}
	}
	report, err := load.RunCrowd(ctx, config)
	if err != nil {
		return err
	}
	return json.NewEncoder(env.Stdout).Encode(report)
}
