package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/headcount-live/headcount"
)

// LeasesLinear lets clients work on the same accounts at once and checks that what
// they saw could have happened one after the other: never more live than the limit,
// never fewer admitted than it when they ask. open is as for [Leases].
func LeasesLinear(t *testing.T, open func(t *testing.T) LeaseStoreAt) {
	store := open(t)
	for round := range 20 {
		h := newHousehold(t, store)
		h.account = h.hasher.Account(fmt.Sprint("linear ", round))
		history := contend(h, 1+round%3, uint64(round))
		if res := porcupine.CheckOperationsTimeout(linearModel, history, 10*time.Second); res != porcupine.Ok {
			t.Fatalf("round %d is %s:\n%v", round, res, history)
		}
	}
}

// linearStep is an operation and what it was asked with.
type linearStep struct {
	op    string // acquire, renew, release, stop or list
	lease headcount.LeaseID
	ask   headcount.AcquireRequest
}

// linearAnswer is what came back.
type linearAnswer struct {
	admitted, tookOver, found bool
	state                     headcount.RenewState
	live                      []headcount.LeaseID
}

// linearModel is [accountModel] without time, which the clients do not let pass.
var linearModel = porcupine.Model{
	Init: func() any { return accountModel{} },
	Step: func(state, input, output any) (bool, any) {
		m, in, out := state.(accountModel), input.(linearStep), output.(linearAnswer)
		m.leases, m.tombs = slices.Clone(m.leases), slices.Clone(m.tombs)
		live := func() bool {
			return slices.EqualFunc(out.live, m.leases, func(id headcount.LeaseID, l modelLease) bool { return id == l.id })
		}
		switch in.op {
		case "acquire":
			admitted, tookOver := m.acquire(in.ask)
			return admitted == out.admitted && tookOver == out.tookOver && (admitted || live()), m
		case "renew":
			return m.renew(headcount.RenewRequest{Lease: in.lease}) == out.state, m
		case "release":
			return m.release(in.lease) == out.found, m
		case "stop":
			return m.end(in.lease, headcount.ReasonForceStopped, "") == out.found, m
		}
		return live(), m
	},
	Equal: func(a, b any) bool {
		x, y := a.(accountModel), b.(accountModel)
		return slices.Equal(x.leases, y.leases) && slices.Equal(x.tombs, y.tombs)
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}

const (
	linearClients = 4
	linearSteps   = 15
)

// contend lets each client take its steps on the account at the same time and
// returns who saw what when.
func contend(h *household, limit int, seed uint64) []porcupine.Operation {
	var mu sync.Mutex
	var history []porcupine.Operation
	known := []headcount.LeaseID{{}}
	began := time.Now()
	var clients sync.WaitGroup
	for client := range linearClients {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			for range linearSteps {
				mu.Lock()
				s := linearStep{
					op:    []string{"acquire", "acquire", "acquire", "renew", "release", "stop", "list"}[random.IntN(7)],
					lease: known[random.IntN(len(known))],
				}
				mu.Unlock()
				if s.op == "acquire" {
					name := device(random.IntN(linearClients))
					s.ask = headcount.AcquireRequest{Limit: limit, Replace: s.lease, Lease: h.mint(name).id, Device: h.device(name)}
					mu.Lock()
					known = append(known, s.ask.Lease)
					mu.Unlock()
				}
				call := time.Since(began)
				out := h.take(s)
				done := time.Since(began)
				mu.Lock()
				history = append(history, porcupine.Operation{
					ClientId: client, Input: s, Output: out, Call: int64(call), Return: int64(done),
				})
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return history
}

func (h *household) take(s linearStep) (out linearAnswer) {
	ctx := context.Background()
	var err error
	switch s.op {
	case "acquire":
		s.ask.Account = h.account
		var res headcount.AcquireResult
		res, err = h.store.Acquire(ctx, &s.ask)
		out = linearAnswer{admitted: res.Admitted, tookOver: res.TookOver, live: leaseIDs(res.Active)}
	case "renew":
		var res headcount.RenewResult
		res, err = h.store.Renew(ctx, &headcount.RenewRequest{Account: h.account, Lease: s.lease})
		out.state = res.State
	case "release":
		out.found, err = h.store.Release(ctx, h.account, s.lease)
	case "stop":
		out.found, err = h.store.Stop(ctx, h.account, s.lease)
	default:
		var live []headcount.Lease
		live, err = h.store.List(ctx, h.account)
		out.live = leaseIDs(live)
	}
	if err != nil {
		h.t.Error(err)
	}
	return out
}
