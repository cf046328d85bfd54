package memory

import (
	"context"

	"github.com/headcount-live/headcount"
)

// Generation implements [headcount.LeaseStore].
func (s *Leases) Generation(headcount.AccountHash) uint32 { return s.generation.Load() }

// LookGeneration implements [headcount.LeaseStore]. The generation is fresh for one
// TTL after a start that restored nothing: a kill loses the memory.
func (s *Leases) LookGeneration(context.Context, headcount.AccountHash) (headcount.Generation, error) {
	lost := s.lost.Load()
	return headcount.Generation{
		ID:    s.generation.Load(),
		Fresh: lost >= 0 && s.clock.now()-lost < s.ttl,
	}, nil
}
