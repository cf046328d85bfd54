package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/headcount-live/headcount/client"
)

// StreamsCmd looks after the streams of one account on a running server.
type StreamsCmd struct {
	List StreamsListCmd `cmd:"" help:"List what an account is playing."`
	Stop StreamsStopCmd `cmd:"" help:"Stop one stream of an account, or all of them."`
}

// adminServer says which running server to talk to.
type adminServer struct {
	AdminURL   string `name:"admin-url" setting:"" default:"http://127.0.0.1:9090" help:"URL of the server's admin listener (default: ${default})."`
	AdminToken string `secret:"" placeholder:"TOKEN" help:"Bearer token of the admin listener, if it demands one."`
}

func (s adminServer) client() (*client.Admin, error) {
	admin, err := client.NewAdmin(s.AdminURL, client.WithToken(s.AdminToken))
	if err != nil {
		return nil, &usageError{fmt.Errorf("--admin-url: %w", err)}
	}
	return admin, nil
}

// StreamsListCmd lists the live streams of an account.
type StreamsListCmd struct {
	Account string `arg:"" help:"Account id."`
	JSON    bool   `name:"json" help:"Print JSON, as the API answers."`
	adminServer
}

// Run prints a table, or JSON for scripts.
func (c *StreamsListCmd) Run(ctx context.Context, env *Env) error {
	admin, err := c.client()
	if err != nil {
		return err
	}
	listing, err := admin.Streams(ctx, c.Account)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.Stdout, listing)
	}
	return printStreams(env.Stdout, c.Account, listing)
}

// StreamsStopCmd ends streams of an account from outside.
type StreamsStopCmd struct {
	Account  string `arg:"" help:"Account id."`
	StreamID string `arg:"" optional:"" help:"Stream to stop, as listed."`
	All      bool   `help:"Stop all streams of the account."`
	JSON     bool   `name:"json" help:"Print JSON: how many streams were stopped."`
	adminServer
}

// Run stops the one stream that is named, or all if that is said: never all
// because a name was left out.
func (c *StreamsStopCmd) Run(ctx context.Context, env *Env) error {
	if c.All == (c.StreamID != "") {
		return &usageError{errors.New("name one stream to stop, or give --all")}
	}
	admin, err := c.client()
	if err != nil {
		return err
	}
	stopped := 1
	if c.All {
		stopped, err = admin.ForceStopAll(ctx, c.Account)
	} else {
		err = admin.ForceStop(ctx, c.Account, c.StreamID)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.Stdout, map[string]int{"stopped": stopped})
	}
	_, err = fmt.Fprintf(env.Stdout, "stopped %s of %s\n", countOf(stopped, "stream"), printable(c.Account))
	return err
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// countOf writes a number with its noun.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
