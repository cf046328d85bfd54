package gate_test

import (
	"cmp"
	"context"

	"github.com/headcount-live/headcount"
)

// liveStore is the store behind a gate: it can be exchanged for another, and fail.
type liveStore struct {
	headcount.LeaseStore
	err     error // of every step
	lookErr error // of LookGeneration alone
}

func (s *liveStore) Acquire(ctx context.Context, r *headcount.AcquireRequest) (headcount.AcquireResult, error) {
	if s.err != nil {
		return headcount.AcquireResult{}, s.err
	}
	return s.LeaseStore.Acquire(ctx, r)
}

func (s *liveStore) Renew(ctx context.Context, r *headcount.RenewRequest) (headcount.RenewResult, error) {
	if s.err != nil {
		return headcount.RenewResult{}, s.err
	}
	return s.LeaseStore.Renew(ctx, r)
}

func (s *liveStore) RenewBatch(ctx context.Context, reqs []headcount.RenewRequest, results []headcount.RenewResult) {
	if s.err == nil {
		s.LeaseStore.RenewBatch(ctx, reqs, results)
		return
	}
	for i := range results {
		results[i].Err = s.err
	}
}

func (s *liveStore) Release(ctx context.Context, a headcount.AccountHash, l headcount.LeaseID) (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	return s.LeaseStore.Release(ctx, a, l)
}

func (s *liveStore) Stop(ctx context.Context, a headcount.AccountHash, l headcount.LeaseID) (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	return s.LeaseStore.Stop(ctx, a, l)
}

func (s *liveStore) StopAll(ctx context.Context, a headcount.AccountHash) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	return s.LeaseStore.StopAll(ctx, a)
}

func (s *liveStore) List(ctx context.Context, a headcount.AccountHash) ([]headcount.Lease, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.LeaseStore.List(ctx, a)
}

func (s *liveStore) Watch(ctx context.Context, a headcount.AccountHash, l headcount.LeaseID) (<-chan headcount.Ended, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.LeaseStore.Watch(ctx, a, l)
}

func (s *liveStore) LookGeneration(ctx context.Context, a headcount.AccountHash) (headcount.Generation, error) {
	if err := cmp.Or(s.err, s.lookErr); err != nil {
		return headcount.Generation{}, err
	}
	return s.LeaseStore.LookGeneration(ctx, a)
}
