package gate

import (
	"context"
	"time"

	"github.com/headcount-live/headcount"
)

// planWrite is a write of this node that is under way.
type planWrite struct {
	account   string
	overtaken bool // guarded by mu: the row may have changed again since the write
}

// Put checks a row against the catalogue, stores it and lets it show on this node
// before it returns; on other nodes it shows when their feeds tell. It returns the
// row with its UpdatedAt, an [headcount.Error] with CodeInvalidField for a row
// that cannot be stored, and one with CodeUnavailable when the store fails, in
// which case the row may or may not have been stored.
func (p *Plans) Put(ctx context.Context, row headcount.Plan) (headcount.Plan, error) {
	if err := row.Check(p.Catalogue); err != nil {
		return headcount.Plan{}, err
	}
	ctx, cancel := adminTime(ctx)
	defer cancel()
	w := p.beginWrite(row.AccountID)
	stored, err := p.Store.PutPlan(ctx, row)
	p.endWrite(w, p.entitled(stored), err)
	if err != nil {
		return headcount.Plan{}, plansUnavailable(err)
	}
	return stored, nil
}

// Delete removes an account's row, so that the default plan holds again, and
// reports whether there was one. It shows as a Put does and fails as one does.
func (p *Plans) Delete(ctx context.Context, account string) (bool, error) {
	ctx, cancel := adminTime(ctx)
	defer cancel()
	w := p.beginWrite(account)
	had, err := p.Store.DeletePlan(ctx, account)
	p.endWrite(w, p.defaults(), err)
	if err != nil {
		return false, plansUnavailable(err)
	}
	return had, nil
}

// Row returns the account's row as the store holds it now, not as the cache does,
// and whether there is one. It waits for as long as ctx allows and fails as Put does.
func (p *Plans) Row(ctx context.Context, account string) (row headcount.Plan, ok bool, err error) {
	ctx, cancel := adminTime(ctx)
	defer cancel()
	rows, err := p.Store.Plans(ctx, []string{account})
	if err != nil {
		return headcount.Plan{}, false, plansUnavailable(err)
	}
	if len(rows) == 0 {
		return headcount.Plan{}, false, nil
	}
	return rows[0], true, nil
}

// adminPatience is how long a plan's row is read or written for at most, the wait
// for a busy database included: below every timeout of a server in front.
const adminPatience = 6 * time.Second

// adminTime bounds a call to the store. A write goes on when its caller leaves: half
// a change of mind is none.
func adminTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), adminPatience)
}

func (p *Plans) beginWrite(account string) *planWrite {
	w := &planWrite{account: account}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing[w] = struct{}{}
	return w
}

// endWrite lets the outcome of a write show. Of two writes at the same time it is
// not known here which came last, so the one that returns last is asked for again,
// as is one that failed, because it may have happened all the same.
func (p *Plans) endWrite(w *planWrite, e Entitlement, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.writing, w)
	if err != nil {
		p.outdate(w.account)
		return
	}
	p.overtake(w.account)
	p.keep(w.account, e)
	if w.overtaken {
		p.outdate(w.account)
	}
}

// plansUnavailable is the public form of a failed read or write of plans.
func plansUnavailable(cause error) *headcount.Error {
	err := headcount.Unavailable(cause)
	err.Message = "the database of plans cannot be reached; retry after a moment"
	return err
}
