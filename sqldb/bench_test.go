package sqldb_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/sqldb"
	"github.com/headcount-live/headcount/storetest"
)

func BenchmarkSQLite(b *testing.B) {
	p, err := sqldb.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "plans.db"), sqldb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	storetest.BenchmarkPlans(b, p)
}

// BenchmarkSQLiteImport is an import of b.N accounts into an empty table.
func BenchmarkSQLiteImport(b *testing.B) {
	p, err := sqldb.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "plans.db"), sqldb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	n, err := p.ImportPlans(b.Context(), func(yield func(headcount.Plan, error) bool) {
		for i := range b.N {
			if !yield(headcount.Plan{AccountID: fmt.Sprintf("%010d", i*7919), Plan: "basic", Status: headcount.StatusActive}, nil) {
				return
			}
		}
	})
	if n != b.N || err != nil {
		b.Fatal(n, err)
	}
}
