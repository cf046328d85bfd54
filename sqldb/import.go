package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/headcount-live/headcount"
)

// importBatch is how many rows travel to the database in one statement.
const importBatch = 500

// loudImport is the largest import that the change log tells account by account.
// Beyond it, telling every cache to look again costs less than the list.
const loudImport = 1000

// importSQLite stages the rows in a temporary table, which is private to the
// connection and locks nothing, and moves them over in one transaction. The
// connection is the import's own, so that other writers of this process go on
// while rows come in, and nothing temporary outlives it.
func importSQLite(ctx context.Context, path string, plans rowSeq) (int, error) {
	db := openSQLitePool(path, 1, "_txlock=immediate")
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("importing plans: %w", err)
	}
	defer conn.Close()
	if err := stagePlans(ctx, conn, plans); err != nil {
		return 0, err
	}
	n, err := moveStaged(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("importing plans: nothing was changed: %w", err)
	}
	return n, nil
}

// stageSQL adds a batch, an array of arrays, to the temporary table.
const stageSQL = `INSERT OR REPLACE INTO staged
	SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)`

// stagePlans fills the temporary table. An error of plans comes back as it is.
func stagePlans(ctx context.Context, conn *sql.Conn, plans rowSeq) error {
	if _, err := conn.ExecContext(ctx, `CREATE TEMP TABLE staged
		(account_id TEXT PRIMARY KEY, plan TEXT, max_streams INT, status TEXT) WITHOUT ROWID`); err != nil {
		return fmt.Errorf("importing plans: %w", err)
	}
	batch := make([][4]any, 0, importBatch)
	flush := func() error {
		text, err := json.Marshal(batch)
		if err == nil {
			_, err = conn.ExecContext(ctx, stageSQL, string(text))
		}
		if err != nil {
			return fmt.Errorf("importing plans: %w", err)
		}
		batch = batch[:0]
		return nil
	}
	for row, err := range plans {
		if err != nil {
			return err
		}
		batch = append(batch, stagedRow(row))
		if len(batch) == importBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func stagedRow(row headcount.Plan) [4]any {
	return [4]any{row.AccountID, row.Plan, row.MaxStreams, row.Status}
}

// moveStaged replaces the rows of all staged accounts and logs the change.
func moveStaged(ctx context.Context, conn *sql.Conn) (n int, err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // nothing to do after Commit
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM staged`).Scan(&n); err != nil {
		return 0, err
	}
	steps := []string{`INSERT INTO accounts (` + sqliteColumns + `)
		SELECT account_id, plan, max_streams, status, ` + sqliteNow + ` FROM staged WHERE true ORDER BY account_id` + sqliteUpsert}
	if n > loudImport {
		steps = append([]string{`UPDATE plan_changes_quiet SET quiet = 1`}, append(steps,
			`UPDATE plan_changes_quiet SET quiet = 0`,
			`INSERT INTO plan_changes (account_id) VALUES (NULL)`)...)
	}
	for _, step := range steps {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return 0, err
		}
	}
	return n, tx.Commit()
}
