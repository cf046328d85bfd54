package sqldb_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/sqldb"
	"github.com/headcount-live/headcount/storetest"
)

// SQLite does what every PlanStore does.
func TestSQLite(t *testing.T) {
	storetest.Plans(t, func(t *testing.T) headcount.PlanStore { return open(t, newPath(t)) })
}

// newPath names a database whose path is as odd as a path may be.
func newPath(t *testing.T) string {
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
