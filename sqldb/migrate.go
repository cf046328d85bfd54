package sqldb

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*/*.sql
var migrations embed.FS

// migrate brings the tables up to date. Several processes may do so at once: one
// of them wins each step, and the others, whose step then fails, look again.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, dir string) error {
	files, err := fs.Sub(migrations, dir)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	const attempts = 5
	for attempt := 1; ; attempt++ {
		_, err = provider.Up(ctx)
		if err == nil {
			break
		}
		if attempt == attempts {
			return fmt.Errorf("bringing its tables up to date: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(attempt) * 50 * time.Millisecond):
		}
	}
	current, newest, err := provider.GetVersions(ctx)
	if err == nil && current > newest {
		return fmt.Errorf("its tables have version %d, written by a newer headcount; this one knows %d", current, newest)
	}
	return err
}
