package main

import (
	"context"
)

// ServeCmd runs the server.
type ServeCmd struct {
	Settings `embed:""`
}

// Run serves until ctx ends, then drains.
func (c *ServeCmd) Run(ctx context.Context, env *Env) error {
	if err := c.Check(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
