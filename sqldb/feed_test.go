package sqldb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/headcount-live/headcount/sqldb"
)

// The change log is bounded, whatever one statement changes, and a follower that
// is behind what was trimmed is told that any row may have changed.
func TestFeedTrims(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	told := follow(t, p)
	told.want(t, "all")
	sqlExec(t, path, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
		INSERT INTO accounts (account_id, plan) SELECT 'account-' || i, 'basic' FROM n`)
	told.want(t, "all")
	var kept int
	if err := plain(t, path).QueryRow(`SELECT count(*) FROM plan_changes`).Scan(&kept); err != nil || kept != 20_000 {
		t.Errorf("the log holds %d changes, %v; want 20000", kept, err)
	}
	sqlExec(t, path, `UPDATE accounts SET plan = 'premium' WHERE account_id = 'account-77'`)
	told.want(t, "account-77")
}

// A log that was emptied by hand, or a database put in place of another, is a
// loss of history, not the absence of changes.
func TestFeedLost(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	told := follow(t, p)
	told.want(t, "all")
	sqlExec(t, path, `BEGIN; INSERT INTO accounts (account_id, plan) VALUES ('ann', 'basic'); DELETE FROM plan_changes; COMMIT`)
	told.want(t, "all")
	sqlExec(t, path, `UPDATE sqlite_sequence SET seq = 0 WHERE name = 'plan_changes'`)
	told.want(t, "all")
	sqlExec(t, path, `INSERT INTO accounts (account_id, plan) VALUES ('ben', 'basic')`)
	told.want(t, "ben")
}

// A feed whose database fails says so instead of waiting in silence.
func TestFeedFails(t *testing.T) {
	p, err := sqldb.Open(t.Context(), "sqlite:"+newPath(t), sqldb.Options{Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	err = p.FollowPlans(t.Context(), func(_ []string, all bool) {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the failure", err)
	}
}
