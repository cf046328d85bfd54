package redis

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/binary"
	"errors"
	"time"

	"github.com/headcount-live/headcount"
)

// pollInterval is how often each shard is asked for its generation. A loss is
// noticed within it, or at the first unknown genuine id, whichever is earlier.
const pollInterval = time.Second

//go:embed script/generation.lua
var generationLua string

// Run keeps the generations current until ctx ends. A shard that does not answer
// keeps the last one known.
func (s *Leases) Run(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			within, cancel := context.WithTimeout(ctx, pollInterval)
			_ = s.poll(within) // the decision path reports a shard that fails
			cancel()
		}
	}
}

// poll reads the shards' layout and every shard's generation.
func (s *Leases) poll(ctx context.Context) error {
	all, err := s.shards.refresh(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, sh := range all {
		if _, err := s.look(ctx, sh); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (s *Leases) look(ctx context.Context, sh *shard) (headcount.Generation, error) {
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	parts, err := s.generation.run(ctx, s.client, sh.marker, string(id[:]), s.offsetArg()).ToArray()
	if err != nil {
		return headcount.Generation{}, err
	}
	if len(parts) != 2 {
		return headcount.Generation{}, errPacked
	}
	text, err1 := parts[0].ToString()
	age, err2 := parts[1].AsInt64()
	if err := errors.Join(err1, err2); err != nil || len(text) != 4 {
		return headcount.Generation{}, errors.Join(errPacked, err)
	}
	g := headcount.Generation{
		ID:    binary.LittleEndian.Uint32([]byte(text)),
		Fresh: age < s.ttl.Milliseconds(),
	}
	sh.generation.Store(g.ID)
	return g, nil
}

// Generation implements [headcount.LeaseStore] from the last poll.
func (s *Leases) Generation(a headcount.AccountHash) uint32 {
	return s.shards.of(accountKey(a)).generation.Load()
}

// LookGeneration implements [headcount.LeaseStore] in one script call.
func (s *Leases) LookGeneration(ctx context.Context, a headcount.AccountHash) (headcount.Generation, error) {
	return s.look(ctx, s.shards.of(accountKey(a)))
}
