package sqldb_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/sqldb"
	"github.com/headcount-live/headcount/storetest"
)

// SQLite does what every PlanStore does.
func TestSQLite(t *testing.T) {
	storetest.Plans(t, func(t *testing.T) headcount.PlanStore {
		t.Helper()
		return open(t, newPath(t))
	})
}

// newPath names a database whose path is as odd as a path may be.
func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "plans of #1 100%?.db")
}

func open(t *testing.T, path string) *sqldb.Plans {
	t.Helper()
	p, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{Poll: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// While another process is in the middle of a write, reads and the feed go on,
// and a write gives up when its caller does, not when SQLite would.
func TestAnotherProcessWrites(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	told := follow(t, p)
	told.want(t, "all")
	sqlExec(t, path, `INSERT INTO accounts (account_id, plan) VALUES ('ann', 'basic')`)
	told.want(t, "ann")

	other := plain(t, path)
	if _, err := other.Exec(`BEGIN EXCLUSIVE; UPDATE accounts SET plan = 'premium'`); err != nil {
		t.Fatal(err)
	}
	if row := read(t, p, "ann"); row.Plan != "basic" {
		t.Errorf("read %+v, which is not committed", row)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := p.PutPlan(ctx, headcount.Plan{AccountID: "ann", Plan: "family", Status: headcount.StatusActive})
	if took := time.Since(start); err == nil || took > 3*time.Second {
		t.Errorf("the write returned %v after %v, want a failure in about 100 ms", err, took)
	}
	if _, err := other.Exec(`COMMIT`); err != nil {
		t.Fatal(err)
	}
	told.want(t, "ann")
	if row := read(t, p, "ann"); row.Plan != "premium" {
		t.Errorf("read %+v after the commit", row)
	}
}
