package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/headcount-live/headcount/load"
)

// BenchEngineCmd measures the lease engine in this process.
type BenchEngineCmd struct {
	Leases   int           `default:"1000000" help:"Leases to keep alive, two an account (${default}); ten million take 1.5 GB."`
	Duration time.Duration `default:"5s" help:"Length of each measured phase (${default})."`
}

// Run prints one JSON line when it is done.
func (c *BenchEngineCmd) Run(ctx context.Context, env *Env) error {
	config := load.EngineConfig{Leases: c.Leases, Duration: c.Duration}
	if err := config.Check(); err != nil {
		return &usageError{err}
	}
	report, err := load.RunEngine(ctx, config)
	if err != nil {
		return err
	}
	return json.NewEncoder(env.Stdout).Encode(report)
}
