package sqldb_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/sqldb"
)

// A database that cannot be opened is refused with a sentence that says why and
// what to write instead, and without the password that a URL may hold.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	notOne := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(notOne, []byte(strings.Repeat("not a database. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ url, want string }{
		{"plans.db", "write sqlite:plans.db"},
		{"sqlite:", "write sqlite:PATH"},
		{"sqlite::memory:", "names no file"},
		{"sqlite:" + dir, "is a directory"},
		{"sqlite:" + filepath.Join(dir, "none", "plans.db"), "make it first"},
		{"sqlite:" + notOne, "not a database"},
		{"mysql://root:hunter2@host/db", `kind "mysql" are not supported`},
	} {
		p, err := sqldb.Open(t.Context(), tt.url, sqldb.Options{})
		if err == nil {
			p.Close()
			t.Errorf("%s: opened", tt.url)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %q, want %q in it", tt.url, err, tt.want)
		}
	}
}

// A caller that only reads is told of a mistyped path, and no file is made.
func TestOpenMustExist(t *testing.T) {
	path := newPath(t)
	if _, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{MustExist: true}); err == nil || !strings.Contains(err.Error(), "no database at") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file was made: %v", err)
	}
	open(t, path)
	if p, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{MustExist: true}); err != nil {
		t.Error(err)
	} else if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Rows outlive the process, and opening again changes nothing.
func TestReopen(t *testing.T) {
	path := newPath(t)
	first := open(t, path)
	want, err := first.PutPlan(t.Context(), headcount.Plan{AccountID: "ann", Plan: "basic", Status: headcount.StatusPaused})
	if err != nil {
		t.Fatal(err)
	}
	got, err := open(t, path).Plans(t.Context(), []string{"ann"})
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// Processes that start at the same time on a new file all find the tables made.
func TestOpenAtOnce(t *testing.T) {
	path := newPath(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			p, err := sqldb.Open(context.Background(), "sqlite:"+path, sqldb.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			if _, err := p.Plans(context.Background(), []string{"ann"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Tables of a version that this program does not know are left alone.
func TestOpenNewerTables(t *testing.T) {
	path := newPath(t)
	open(t, path)
	sqlExec(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	if _, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{}); err == nil || !strings.Contains(err.Error(), "written by a newer headcount") {
		t.Errorf("got %v", err)
	}
}
