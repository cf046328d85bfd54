package gate

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/headcount-live/headcount"
)

// maxPlanBatch bounds one query. What misses beyond it goes into the next.
const maxPlanBatch = 4096

// planPatience is how many timeouts a query may take until it is given up. Those
// who wait for it leave after one, but an answer that comes late still corrects
// the cache.
const planPatience = 20

// planRest is how many timeouts nobody is sent to a store that just failed.
const planRest = 2

// errNoPlans says that the store cannot be asked now.
var errNoPlans = errors.New("gate: the plan store does not answer")

// planCall is one account in one query, and all who wait for it.
type planCall struct {
	account   string
	done      chan struct{} // closed when the fields below are set
	answer    Entitlement
	err       error
	asked     bool // guarded by mu: in a query that has begun
	overtaken bool // guarded by mu: the row changed since then
}

// fetch asks the store for one account. All accounts that miss while a query is
// under way go together into the next one, each once.
//
// It waits for the timeout at most, whether or not the caller is still there: a
// request that was given up must not be told the plan of an outage, because a client
// that half-closes its connection looks just like one that left.
func (p *Plans) fetch(account string) (Entitlement, error) {
	call := p.join(account)
	if call == nil {
		return Entitlement{}, errNoPlans
	}
	timeout := time.NewTimer(p.Timeout)
	defer timeout.Stop()
	select {
	case <-call.done:
		return call.answer, call.err
	case <-timeout.C:
		return p.tooLate(call)
	}
}

// tooLate ends the wait for a call, unless its answer came at the same moment, as
// it does on a machine that is short of time itself.
func (p *Plans) tooLate(call *planCall) (Entitlement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-call.done:
		return call.answer, call.err
	default:
		p.fail(errNoPlans)
		return Entitlement{}, errNoPlans
	}
}

// join returns the call that answers for the account, or nil while the store is
// known not to answer, when joining would only add to the wait and the pile.
func (p *Plans) join(account string) *planCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store.overdue(p.Timeout) || p.store.resting() {
		return nil
	}
	if call := p.calls[account]; call != nil {
		return call
	}
	account = strings.Clone(account) // the caller's may be a view of a buffer that is reused
	call := &planCall{account: account, done: make(chan struct{})}
	p.calls[account] = call
	p.waiting = append(p.waiting, call)
	if !p.store.asking {
		p.store.asking, p.store.began = true, time.Now()
		go p.query()
	}
	return call
}

// query asks the store, one query at a time, until nobody waits or it fails.
func (p *Plans) query() {
	for {
		batch := p.nextBatch()
		if batch == nil {
			return
		}
		accounts := make([]string, len(batch))
		for i, call := range batch {
			accounts[i] = call.account
		}
		// The query outlives the play-start that caused it: others wait for it too.
		ctx, cancel := context.WithTimeout(context.Background(), planPatience*p.Timeout)
		rows, err := p.Store.Plans(ctx, accounts)
		cancel()
		if !p.settle(batch, rows, err) {
			return
		}
	}
}

// nextBatch takes the calls that wait, or ends the asking.
func (p *Plans) nextBatch() []*planCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.waiting), maxPlanBatch)
	if n == 0 {
		p.waiting = nil
		p.store.asking = false
		return nil
	}
	batch := p.waiting[:n:n]
	p.waiting = p.waiting[n:]
	for _, call := range batch {
		call.asked = true
	}
	p.store.began = time.Now()
	return batch
}

// settle hands a query's outcome to those who wait and reports whether to go on.
// After a failure nobody's wait would end better, so all calls fail with it.
func (p *Plans) settle(batch []*planCall, rows []headcount.Plan, err error) bool {
	found := make(map[string]headcount.Plan, len(rows))
	for _, row := range rows {
		found[row.AccountID] = row
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.fail(err)
		p.store.restUntil = time.Now().Add(planRest * p.Timeout)
		for _, call := range append(batch, p.waiting...) {
			p.end(call, Entitlement{}, err)
		}
		p.waiting, p.store.asking = nil, false
		return false
	}
	for _, call := range batch {
		answer := p.defaults()
		if row, ok := found[call.account]; ok {
			answer = p.entitled(row)
		}
		if !call.overtaken {
			p.keep(call.account, answer)
		}
		p.end(call, answer, nil)
	}
	if time.Since(p.store.began) <= p.Timeout {
		p.recover()
	}
	return true
}

// end wakes all who wait for a call. The caller holds mu.
func (p *Plans) end(call *planCall, answer Entitlement, err error) {
	call.answer, call.err = answer, err
	if p.calls[call.account] == call {
		delete(p.calls, call.account)
	}
	close(call.done)
}

// overtake says that the account's row changed: what is on its way may be older,
// and no new miss may join it. The caller holds mu.
func (p *Plans) overtake(account string) {
	if call := p.calls[account]; call != nil && call.asked {
		call.overtaken = true
		delete(p.calls, account)
	}
	for w := range p.writing {
		w.overtaken = w.overtaken || w.account == account
	}
}
