package sqldb_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/sqldb"
)

// Plain SQL may leave out what has a default, and give NULL for it.
func TestPlainInsert(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	before := time.Now().Add(-time.Minute)
	sqlExec(t, path,
		`INSERT INTO accounts (account_id, plan) VALUES ('ann', 'premium')`,
		`INSERT INTO accounts VALUES ('ben', 'family', 6, NULL, NULL)`,
		`INSERT INTO accounts (account_id, plan, status) VALUES (42, 'basic', 'paused')`,
		`INSERT INTO accounts VALUES ('dan', 'basic', NULL, 'churned', datetime('now'))`)
	for _, tt := range []struct {
		account, plan, limit string
		status               headcount.Status
	}{
		{"ann", "premium", "none", headcount.StatusActive},
		{"ben", "family", "6", headcount.StatusActive},
		{"42", "basic", "none", headcount.StatusPaused},
		{"dan", "basic", "none", headcount.StatusChurned},
	} {
		row := read(t, p, tt.account)
		if row.Plan != tt.plan || limitOf(row) != tt.limit || row.Status != tt.status {
			t.Errorf("%s: got %+v with limit %s, want %+v", tt.account, row, limitOf(row), tt)
		}
		if at := row.UpdatedAt.Time(); at.Before(before) || at.After(time.Now().Add(time.Minute)) {
			t.Errorf("%s: updated at %v, want about now", tt.account, at)
		}
	}
}

// An UPDATE that does not think of updated_at moves it; one that does is obeyed.
// Either way it is text that a person can read and that sorts.
func TestPlainUpdate(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	const old = "2020-01-02T03:04:05.678Z"
	sqlExec(t, path, `INSERT INTO accounts VALUES ('ann', 'basic', NULL, 'active', '`+old+`')`)
	if got := read(t, p, "ann").UpdatedAt.String(); got != old {
		t.Errorf("got %s, want %s", got, old)
	}
	sqlExec(t, path, `UPDATE accounts SET plan = 'premium'`)
	if got := read(t, p, "ann"); got.Plan != "premium" || time.Since(got.UpdatedAt.Time()) > time.Minute {
		t.Errorf("got %+v, want premium, updated now", got)
	}
	sqlExec(t, path, `UPDATE accounts SET plan = 'basic', updated_at = '`+old+`'`)
	if got := read(t, p, "ann").UpdatedAt.String(); got != old {
		t.Errorf("got %s, want %s", got, old)
	}
}

// The table refuses what no request could name or no plan could mean.
func TestPlainNonsenseRefused(t *testing.T) {
	path := newPath(t)
	open(t, path)
	db := plain(t, path)
	long := strings.Repeat("x", headcount.MaxIDLen+1)
	for _, values := range []string{
		`'', 'basic', NULL, 'active'`, `NULL, 'basic', NULL, 'active'`, `'` + long + `', 'basic', NULL, 'active'`,
		`'a' || char(10) || 'b', 'basic', NULL, 'active'`, `char(127), 'basic', NULL, 'active'`, `char(133), 'basic', NULL, 'active'`,
		`'ann', '', NULL, 'active'`, `'ann', NULL, 2, 'active'`, `'ann', char(9), NULL, 'active'`,
		`'ann', 'basic', 65, 'active'`, `'ann', 'basic', -1, 'active'`, `'ann', 'basic', 'four', 'active'`, `'ann', 'basic', 1.5, 'active'`,
		`'ann', 'basic', NULL, 'asleep'`, `'ann', 'basic', NULL, 'Active'`, `'ann', 'basic', NULL, ''`,
	} {
		if _, err := db.Exec(`INSERT INTO accounts (account_id, plan, max_streams, status) VALUES (` + values + `)`); err == nil {
			t.Errorf("accepted: %s", values)
		}
	}
}

// Rows that are nonsense all the same, in a table that an operator made, are read
// in the account's favour and hide no other row.
func TestPlainNonsenseRead(t *testing.T) {
	path := newPath(t)
	db := plain(t, path)
	if _, err := db.Exec(`CREATE TABLE accounts (account_id TEXT PRIMARY KEY, plan, max_streams, status, updated_at);
		INSERT INTO accounts (account_id) VALUES ('bare');
		INSERT INTO accounts VALUES ('words', 'basic', 'four', 'asleep', 'yesterday'),
			('big', 'basic', 9999, 'paused', 1700000000), ('low', 'basic', -3, '', x'00ff'), ('bytes', x'ff', 1.5, x'01', 1.5),
			(NULL, 'basic', 1, 'active', NULL), ('', 'basic', 1, 'active', NULL), ('good', 'premium', 0, 'churned', '2026-01-01')`); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got := map[string]string{}
	for row, err := range p.ExportPlans(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got[row.AccountID] = fmt.Sprintf("%q %s %s %d", row.Plan, limitOf(row), row.Status, row.UpdatedAt)
	}
	want := map[string]string{
		"bare":  `"" none active 0`,
		"words": `"basic" none active 0`,
		"big":   `"basic" 64 paused 0`,
		"low":   `"basic" none active 0`,
		"bytes": `"\xff" none active 0`,
		"good":  `"premium" 0 churned 1767225600000`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if !strings.Contains(log.String(), "left out") || !strings.Contains(log.String(), "rows=2") {
		t.Errorf("two rows without a usable id were left out; the log says %q", log.String())
	}
	if row, err := p.PutPlan(t.Context(), headcount.Plan{AccountID: "bare", Plan: "basic", Status: headcount.StatusActive}); err != nil || row.UpdatedAt == 0 {
		t.Errorf("a nonsense row cannot be replaced: %+v, %v", row, err)
	}
}

// The feed tells changes made with plain SQL over another connection, whatever
// the statement.
func TestPlainSQLIsFollowed(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	told := follow(t, p)
	told.want(t, "all")
	for _, tt := range []struct{ statement, want string }{
		{`INSERT INTO accounts (account_id, plan) VALUES ('ann', 'basic')`, "ann"},
		{`UPDATE accounts SET status = 'paused' WHERE account_id = 'ann'`, "ann"},
		{`REPLACE INTO accounts (account_id, plan) VALUES ('ann', 'premium')`, "ann"},
		{`UPDATE accounts SET account_id = 'ben'`, "ann ben"},
		{`INSERT INTO accounts (account_id, plan) VALUES ('ben', 'x') ON CONFLICT DO UPDATE SET max_streams = 3`, "ben"},
		{`DELETE FROM accounts`, "ben"},
		{`BEGIN; INSERT INTO accounts (account_id, plan) VALUES ('no', 'basic'); ROLLBACK;
			INSERT INTO accounts (account_id, plan) VALUES ('yes', 'basic')`, "yes"},
	} {
		sqlExec(t, path, tt.statement)
		told.want(t, tt.want)
	}
}

// The feed tells a change that another process made.
func TestAnotherProcessIsFollowed(t *testing.T) {
	path := newPath(t)
	p := open(t, path)
	told := follow(t, p)
	told.want(t, "all")
	link := filepath.Join(t.TempDir(), "plans.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if out, err := child(t, link, "insert").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	told.want(t, "from-another-process")
	if row := read(t, p, "from-another-process"); row.Plan != "premium" {
		t.Errorf("got %+v", row)
	}
}

// plain opens the file as any other program would.
func plain(t *testing.T, path string) *sql.DB {
	t.Helper()
	link := filepath.Join(t.TempDir(), "plans.db") // a name that needs no escaping
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+link+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func sqlExec(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := plain(t, path)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func read(t *testing.T, p *sqldb.Plans, account string) headcount.Plan {
	t.Helper()
	rows, err := p.Plans(t.Context(), []string{account})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%s: got %v, %v; want its row", account, rows, err)
	}
	return rows[0]
}

func limitOf(row headcount.Plan) string {
	if row.MaxStreams == nil {
		return "none"
	}
	return fmt.Sprint(*row.MaxStreams)
}

// follower carries what FollowPlans told, each account by itself.
type follower struct {
	told   chan string
	before string // the words of the last want, which may be told once more
}

func follow(t *testing.T, p *sqldb.Plans) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f, done := &follower{told: make(chan string, 10_000)}, make(chan struct{})
	go func() {
		defer close(done)
		p.FollowPlans(ctx, func(accounts []string, all bool) {
			if all {
				f.told <- "all"
			}
			for _, account := range accounts {
				f.told <- account
			}
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

// want waits until each of the words was told and fails on any other. One change
// may be told twice: the trigger that moves updated_at changes the row again. The
// wait only bounds a test that fails.
func (f *follower) want(t *testing.T, words string) {
	t.Helper()
	missing := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		missing[word] = true
	}
	for limit := time.After(20 * time.Second); len(missing) > 0; {
		select {
		case got := <-f.told:
			if !slices.Contains(strings.Fields(words+" "+f.before), got) {
				t.Errorf("told %q, want %q", got, words)
			}
			delete(missing, got)
		case <-limit:
			t.Fatalf("not told %v", missing)
		}
	}
	f.before = words
}

// child is this test binary as another process, see TestMain.
func child(t *testing.T, path string, task ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], task...)
	cmd.Env = append(os.Environ(), childPath+"="+path)
	return cmd
}
