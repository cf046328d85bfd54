package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// readers bounds the connections that read at once: a lookup takes microseconds,
// so more would only help while exports run.
const readers = 4

const (
	sqliteColumns = `account_id, plan, max_streams, status, updated_at`
	sqliteNow     = `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')` // sorts as text and reads as a time
	sqliteUpsert  = ` ON CONFLICT (account_id) DO UPDATE SET plan = excluded.plan, max_streams = excluded.max_streams,
		status = excluded.status, updated_at = excluded.updated_at`
)

func sqliteDialect(path string) dialect {
	return dialect{
		selectPlans: `SELECT ` + sqliteColumns + ` FROM accounts WHERE account_id IN (SELECT value FROM json_each(?))`,
		putPlan: `INSERT INTO accounts (` + sqliteColumns + `) VALUES (?, ?, ?, ?, ` + sqliteNow + `)` + sqliteUpsert +
			` RETURNING updated_at`,
		deletePlan:  `DELETE FROM accounts WHERE account_id = ?`,
		exportPlans: `SELECT ` + sqliteColumns + ` FROM accounts ORDER BY account_id`,
		accounts: func(accounts []string) (any, error) {
			list, err := json.Marshal(accounts)
			return string(list), err
		},
		importPlans: func(ctx context.Context, plans rowSeq) (int, error) { return importSQLite(ctx, path, plans) },
		feedHead:    `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'plan_changes'`,
		feedChanges: `SELECT seq, account_id FROM plan_changes WHERE seq > ? ORDER BY seq LIMIT ?`,
	}
}

// openSQLite opens one writing connection, since SQLite lets one write at a time
// and a queue in this process is fairer than its lock, and some that only read.
// In WAL mode neither waits for the other.
func (p *Plans) openSQLite(ctx context.Context, path string, mustExist bool) (err error) {
	if err := checkSQLitePath(path, mustExist); err != nil {
		return err
	}
	path = filepath.Clean(path) // a leading // would be read as a host
	p.dialect = sqliteDialect(path)
	p.write = openSQLitePool(path, 1, "_txlock=immediate")
	p.read = openSQLitePool(path, readers, "_pragma=query_only(1)")
	defer func() {
		if err != nil {
			err = fmt.Errorf("plans: opening %s: %w", path, errors.Join(err, p.Close()))
		}
	}()
	if _, err := p.write.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return err
	}
	return migrate(ctx, p.write, goose.DialectSQLite3, "migrations/sqlite")
}

// checkSQLitePath refuses what SQLite would only call "unable to open database file".
func checkSQLitePath(path string, mustExist bool) error {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return fmt.Errorf("plans: sqlite:%s names no file; write sqlite:PATH, such as sqlite:/var/lib/headcount/plans.db", path)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("plans: %s is a directory; name a file in it, such as sqlite:%s", path, filepath.Join(path, "plans.db"))
	case errors.Is(err, fs.ErrNotExist) && mustExist:
		return fmt.Errorf("plans: there is no database at %s; check the path, or make one with: headcount plans set", path)
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("plans: the directory of %s cannot be used; make it first: %w", path, err)
		}
		return nil
	default:
		return err
	}
}

// openSQLitePool returns a pool of at most n connections. Each waits up to five
// seconds for a writer in another process before it fails, and cuts a write-ahead
// log that a large import left behind.
func openSQLitePool(path string, n int, params ...string) *sql.DB {
	params = append(params, "_pragma=busy_timeout(5000)", "_pragma=journal_size_limit(67108864)")
	file := (&url.URL{Path: path}).EscapedPath() // ? # and % would end the path
	db, err := sql.Open("sqlite", "file:"+file+"?"+strings.Join(params, "&"))
	if err != nil {
		panic(err) // only an unknown driver name, which is a constant
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}
