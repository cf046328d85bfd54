// Package sqldb keeps the plans of accounts in an SQL database that other
// programs may read and write at the same time: the table accounts is part of
// the service's contract, and a change made with plain SQL counts like any other.
//
// What differs from one database to another (statements, opening, importing, how
// the change log is read) is a dialect; the rest is shared.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/headcount-live/headcount"
)

// Options of [Open]. The zero value is usable.
type Options struct {
	// Poll is how often FollowPlans looks for changes; 0 means every second.
	Poll time.Duration
	// MustExist refuses to make a database where there is none, for callers that
	// only read and would report an empty one after a mistyped path.
	MustExist bool
	// Logger hears of rows that cannot be used; nil means none.
	Logger *slog.Logger
}

// Plans is a [headcount.PlanStore] in an SQL database. Reads and writes have
// bounded pools of connections of their own, so that neither starves the other.
type Plans struct {
	dialect     dialect
	read, write *sql.DB
	poll        time.Duration
	logger      *slog.Logger

	mu       sync.Mutex
	resume   int64 // where the last follower that returned had got to
	resuming bool  // resume holds a position that nobody has taken up
}

var _ headcount.PlanStore = (*Plans)(nil)

// dialect is what one kind of database does in its own way.
type dialect struct {
	selectPlans string // the rows of a list of accounts, as accounts binds it
	putPlan     string // account_id, plan, max_streams, status; returns updated_at
	deletePlan  string // account_id
	exportPlans string // all rows by ascending bytes of account_id

	accounts    func([]string) (any, error) // a list of accounts as one argument
	importPlans func(context.Context, rowSeq) (int, error)
	feedHead    string // the position of the newest change that can be read
	feedChanges string // position and account of the changes after a position, oldest first
}

// Open opens the database that url names, brings its tables up to date and
// returns its plans. The one kind of url is sqlite:PATH, where PATH is taken
// literally and a file that does not exist is made (its directory is not). An
// error says what is wrong with the url or the file; it never repeats a password.
func Open(ctx context.Context, url string, o Options) (*Plans, error) {
	scheme, rest, found := strings.Cut(url, ":")
	if !found {
		return nil, fmt.Errorf("plans: %q is not a database URL; to use a file write sqlite:%s", url, url)
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if scheme != "sqlite" {
		return nil, fmt.Errorf("plans: databases of kind %q are not supported; use sqlite:PATH", scheme)
	}
	p := &Plans{poll: o.Poll, logger: o.Logger}
	if err := p.openSQLite(ctx, rest, o.MustExist); err != nil {
		return nil, err
	}
	return p, nil
}

// Close closes all connections. Calls in progress fail.
func (p *Plans) Close() error { return errors.Join(p.read.Close(), p.write.Close()) }
