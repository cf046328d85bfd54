package sqldb_test

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// While an import waits for its source, rows are read and written as ever, and
// nothing of the import shows.
func TestImportHoldsUpNobody(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	n, err := p.ImportPlans(t.Context(), func(yield func(headcount.Plan, error) bool) {
		for i := range 2000 {
			if !yield(headcount.Plan{AccountID: fmt.Sprint("new-", i), Plan: "basic", Status: headcount.StatusActive}, nil) {
				return
			}
		}
		if _, err := p.PutPlan(t.Context(), headcount.Plan{AccountID: "ann", Plan: "basic", Status: headcount.StatusActive}); err != nil {
			t.Error(err)
		}
		sqlExec(t, path, `INSERT INTO accounts (account_id, plan) VALUES ('ben', 'basic')`)
		if rows, err := p.Plans(t.Context(), []string{"ann", "ben", "new-1"}); err != nil || len(rows) != 2 {
			t.Errorf("got %v, %v; want the rows of ann and ben", rows, err)
		}
	})
	if n != 2000 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if got := count(t, path); got != 2002 {
		t.Errorf("got %d rows, want 2002", got)
	}
}

// A process killed in the middle of an import leaves all of it or nothing, and a
// database that the next one opens and writes.
func TestImportKilled(t *testing.T) {
	const rows = 20_000
	for _, after := range []time.Duration{0, 30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			path := newPath(t)
			p := open(t, path)
			if _, err := p.PutPlan(t.Context(), headcount.Plan{AccountID: "account-0000007", Plan: "basic", Status: headcount.StatusActive}); err != nil {
				t.Fatal(err)
			}
			cmd := child(t, path, "import", fmt.Sprint(rows))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			bufio.NewReader(out).ReadString('\n') // the last row was read: the transaction begins
			time.Sleep(after)                     // any moment is right: the answer must hold for all
			cmd.Process.Kill()
			cmd.Wait()

			got, plan := count(t, path), read(t, p, "account-0000007").Plan
			nothing, all := got == 1 && plan == "basic", got == rows && plan == "premium"
			if !nothing && !all {
				t.Errorf("got %d rows and %s, want nothing or all of the import", got, plan)
			}
			var verdict string
			if err := plain(t, path).QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
				t.Errorf("integrity: %s, %v", verdict, err)
			}
			if n, err := p.ImportPlans(t.Context(), func(yield func(headcount.Plan, error) bool) {
				yield(headcount.Plan{AccountID: "ann", Plan: "basic", Status: headcount.StatusActive}, nil)
			}); n != 1 || err != nil {
				t.Errorf("the next import: %d, %v", n, err)
			}
		})
	}
}

// A refused row ends an import of rows that were not checked with nothing changed.
func TestImportRefusedByTheTable(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	n, err := p.ImportPlans(t.Context(), func(yield func(headcount.Plan, error) bool) {
		_ = yield(headcount.Plan{AccountID: "ann", Plan: "basic", Status: headcount.StatusActive}, nil) &&
			yield(headcount.Plan{AccountID: "ben", Plan: "basic", Status: "asleep"}, nil)
	})
	if n != 0 || err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %d, %v", n, err)
	}
	if got := count(t, path); got != 0 {
		t.Errorf("got %d rows, want none", got)
	}
}

func count(t *testing.T, path string) (n int) {
	t.Helper()
	if err := plain(t, path).QueryRow(`SELECT count(*) FROM accounts`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
