package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/sqldb"
)

// PlansCmd looks after the plans of accounts, on the database itself: a server
// may be running on it or not, and shows a change within five seconds.
type PlansCmd struct {
	Get    PlansGetCmd    `cmd:"" help:"Print the row of an account."`
	Set    PlansSetCmd    `cmd:"" help:"Replace the row of an account."`
	Import PlansImportCmd `cmd:"" help:"Replace the rows of many accounts from CSV, all or none."`
	Export PlansExportCmd `cmd:"" help:"Write all rows as CSV."`
}

// plansDatabase says where plans are and what their names mean.
type plansDatabase struct {
	Storage
	Catalogue headcount.Catalogue `default:"basic=1,standard=2,premium=4" mapsep:"," placeholder:"NAME=N" help:"Streams that each plan allows at once (default: ${default})."`
}

// open opens the database for writing and makes it if there is none.
func (d *plansDatabase) open(ctx context.Context, env *Env) (*sqldb.Plans, error) {
	if d.Plans == "sqlite:"+filepath.Join(d.DataDir, "plans.db") {
		if err := os.MkdirAll(d.DataDir, 0o700); err != nil {
			return nil, fmt.Errorf("cannot make the data directory: %w; name one that this user may write with --data-dir", err)
		}
	}
	return sqldb.Open(ctx, d.Plans, sqldb.Options{Logger: slog.New(slog.NewTextHandler(env.Stderr, nil))})
}

// openExisting opens the database for reading. That there is none is more likely
// a mistyped path than an empty one.
func (d *plansDatabase) openExisting(ctx context.Context, env *Env) (*sqldb.Plans, error) {
	return sqldb.Open(ctx, d.Plans, sqldb.Options{MustExist: true, Logger: slog.New(slog.NewTextHandler(env.Stderr, nil))})
}

// PlansGetCmd prints one row.
type PlansGetCmd struct {
	Account string `arg:"" help:"Account id."`
	JSON    bool   `name:"json" help:"Print JSON, as the admin API answers."`
	plansDatabase
}

// Run prints the row, or fails if the account has none.
func (c *PlansGetCmd) Run(ctx context.Context, env *Env) (err error) {
	plans, err := c.openExisting(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plans.Close()) }()
	rows, err := plans.Plans(ctx, []string{c.Account})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s has no row, so the server's default plan holds for it", printable(c.Account))
	}
	return printPlan(env.Stdout, rows[0], c.Catalogue, c.JSON)
}

// PlansSetCmd replaces one row.
type PlansSetCmd struct {
	Account    string `arg:"" help:"Account id."`
	Plan       string `required:"" placeholder:"NAME" help:"Plan: a name from the catalogue, or any other with --max-streams."`
	MaxStreams *int   `placeholder:"N" help:"Streams at once, 0 to 64; wins over the plan."`
	Status     string `default:"active" enum:"active,paused,churned" help:"active, paused or churned (default: ${default})."`
	JSON       bool   `name:"json" help:"Print JSON, as the admin API answers."`
	plansDatabase
}

// Run replaces the row and prints it.
func (c *PlansSetCmd) Run(ctx context.Context, env *Env) (err error) {
	row := headcount.Plan{AccountID: c.Account, Plan: c.Plan, MaxStreams: c.MaxStreams, Status: headcount.Status(c.Status)}
	if err := row.Check(c.Catalogue); err != nil {
		return &usageError{errors.New(publicMessage(err))}
	}
	plans, err := c.open(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plans.Close()) }()
	if row, err = plans.PutPlan(ctx, row); err != nil {
		return err
	}
	return printPlan(env.Stdout, row, c.Catalogue, c.JSON)
}

// printPlan writes a row for a person, or as JSON for a script.
func printPlan(w io.Writer, row headcount.Plan, c headcount.Catalogue, asJSON bool) error {
	if asJSON {
		return printJSON(w, row)
	}
	limit := fmt.Sprint(c.Limit(row))
	if row.MaxStreams != nil {
		limit += " (its own)"
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ACCOUNT\tPLAN\tSTREAMS\tSTATUS\tUPDATED")
	fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", printable(row.AccountID), printable(row.Plan), limit, row.Status, row.UpdatedAt)
	return table.Flush() // tells of the first failed write, if any
}

// publicMessage is what an error tells a person, without the code for programs.
func publicMessage(err error) string {
	if e, ok := errors.AsType[*headcount.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
