package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// PlansImportCmd replaces rows from a file.
type PlansImportCmd struct {
	File string `arg:"" help:"CSV file with the header account_id,plan,max_streams,status, or - for standard input. A later line of the same account wins."`
	plansDatabase
}

// Run imports the file, all of it or, if any line is bad, nothing.
func (c *PlansImportCmd) Run(ctx context.Context, env *Env) (err error) {
	in, size, err := openInput(c.File, env.Stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	plans, err := c.open(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plans.Close()) }()

	bar := newImportBar(size, env.Stderr)
	n, err := plans.ImportPlans(ctx, bar.ended(readPlans(bar.reader(in), c.Catalogue)))
	if err != nil {
		return fmt.Errorf("%s: %w", inputName(c.File), err)
	}
	_, err = fmt.Fprintf(env.Stdout, "imported %s\n", countOf(n, "account"))
	return err
}

// openInput opens a file, or takes stdin for -. The size is 0 where it is not known.
func openInput(file string, stdin io.Reader) (io.ReadCloser, int64, error) {
	if file == "-" {
		return io.NopCloser(stdin), 0, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory, not a CSV file", file)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func inputName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}
