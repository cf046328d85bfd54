package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/headcount-live/headcount"
)

// PlansExportCmd writes all rows as the CSV that import reads.
type PlansExportCmd struct {
	File string `arg:"" optional:"" default:"-" help:"File to write, or - for standard output (default: ${default})."`
	plansDatabase
}

// Run writes the rows as of one moment. A file is there when it is whole.
func (c *PlansExportCmd) Run(ctx context.Context, env *Env) (err error) {
	plans, err := c.openExisting(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plans.Close()) }()
	if c.File == "-" {
		_, err := writePlans(env.Stdout, plans.ExportPlans(ctx))
		return err
	}
	n, err := exportFile(c.File, plans.ExportPlans(ctx))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stderr, "exported %s\n", countOf(n, "account"))
	return err
}

// exportFile writes beside the file and moves it into place, so that a failure
// leaves the old one. A pipe or a device is written as it is.
func exportFile(path string, plans iter.Seq2[headcount.Plan, error]) (n int, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return exportDevice(path, plans)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // nothing to do once it is in place
	n, err = writePlans(f, plans)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	return n, os.Rename(f.Name(), path)
}

func exportDevice(path string, plans iter.Seq2[headcount.Plan, error]) (int, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	n, err := writePlans(f, plans)
	return n, errors.Join(err, f.Close())
}

// writePlans writes the header and the rows and returns how many rows.
func writePlans(w io.Writer, plans iter.Seq2[headcount.Plan, error]) (n int, err error) {
	buffered := bufio.NewWriterSize(w, 1<<16)
	out := csv.NewWriter(buffered)
	if err := out.Write(strings.Split(plansHeader, ",")); err != nil {
		return 0, err
	}
	for row, err := range plans {
		if err != nil {
			return n, err
		}
		limit := ""
		if row.MaxStreams != nil {
			limit = strconv.Itoa(*row.MaxStreams)
		}
		if err := out.Write([]string{row.AccountID, row.Plan, limit, string(row.Status)}); err != nil {
			return n, err
		}
		n++
	}
	out.Flush()
	return n, errors.Join(out.Error(), buffered.Flush())
}
