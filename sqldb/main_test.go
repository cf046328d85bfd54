package sqldb_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/sqldb"
)

// childPath names the database in the environment of a process that a test
// starts from this binary.
const childPath = "HEADCOUNT_SQLDB_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := runChild(path, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// runChild does one task on the database: insert writes a row with plain SQL;
// import N imports N rows and prints a line when the last one was read.
func runChild(path string, task []string) error {
	ctx := context.Background()
	switch task[0] {
	case "insert":
		db, err := sql.Open("sqlite", path) // as any other program would
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.ExecContext(ctx, `INSERT INTO accounts (account_id, plan) VALUES ('from-another-process', 'premium')`)
		return err
	case "import":
		n, err := strconv.Atoi(task[1])
		if err != nil {
			return err
		}
		p, err := sqldb.Open(ctx, "sqlite:"+path, sqldb.Options{})
		if err != nil {
			return err
		}
		_, err = p.ImportPlans(ctx, func(yield func(headcount.Plan, error) bool) {
			for i := range n {
				if !yield(headcount.Plan{AccountID: fmt.Sprintf("account-%07d", i), Plan: "premium", Status: headcount.StatusActive}, nil) {
					return
				}
			}
			fmt.Fprintln(os.Stdout, "read")
		})
		return err
	}
	return fmt.Errorf("no task %q", task)
}
