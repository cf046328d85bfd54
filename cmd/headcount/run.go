package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// Exit codes of the command.
const (
	exitOK    = 0
	exitError = 1 // the command ran and failed
	exitUsage = 2 // the command line or the configuration is wrong; nothing ran
)

// CLI is the command line. Kong binds a context.Context and an *[Env] for the
// Run method of every command.
type CLI struct {
	ConfigFile string `name:"config" placeholder:"FILE" help:"YAML file of settings; flags and environment variables win over it."`

	Serve   ServeCmd   `cmd:"" help:"Run the server."`
	Plans   PlansCmd   `cmd:"" help:"See and change the plans of accounts, on the database itself."`
	Streams StreamsCmd `cmd:"" help:"See and stop what an account is playing, on a running server."`
	Bench   BenchCmd   `cmd:"" help:"Measure, and print one JSON line."`
	Config  ConfigCmd  `cmd:"" help:"Print the effective settings as YAML, secrets left out."`
	Version VersionCmd `cmd:"" help:"Print the version."`
}

// BenchCmd measures; each prints one JSON line.
type BenchCmd struct {
	Engine BenchEngineCmd `cmd:"" help:"Measure the lease engine in this process."`
	Crowd  BenchCrowdCmd  `cmd:"" help:"Measure the counting of pages in this process."`
	HTTP   BenchHTTPCmd   `cmd:"" name:"http" help:"Load a running server over HTTP."`
}

// Env is what a command may touch of the process it runs in. Tests hand in
// their own.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// run parses args, runs the command they name and returns the exit code. It
// blocks until the command is done; ending ctx asks a server to drain.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv}
	var cli CLI
	settings := &source{getenv: getenv}
	exited := -1
	parser, err := kong.New(&cli,
		kong.Name("headcount"),
		kong.Description("Concurrent stream limits and live viewer counts, from one primitive: the lease."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }), // --help "exits" in the middle of parsing
		kong.Resolvers(settings),
		kong.ValueFormatter(settings.describe),
		kong.Bind(env),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		fmt.Fprintln(stderr, "headcount:", err)
		return exitError
	}
	settings.learn(parser.Model)
	kctx, err := parser.Parse(args)
	switch {
	case exited >= 0:
		return exited
	case err != nil:
		fmt.Fprintf(stderr, "headcount: %v\n", err)
		return exitUsage
	}
	if err := kctx.Run(); err != nil {
		fmt.Fprintf(stderr, "headcount: %v\n", err)
		if _, ok := errors.AsType[*usageError](err); ok {
			return exitUsage
		}
		return exitError
	}
	return exitOK
}

// usageError is a setting that cannot be: the person who typed it has to change it.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }
