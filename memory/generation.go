package memory

import (
	"context"

	"github.com/headcount-live/headcount"
)

// neverLost is the moment of a loss when there was none.
const neverLost = -1 << 62

// Generation implements [headcount.LeaseStore].
func (s *Leases) Generation(headcount.AccountHash) uint32 { return s.generation.Load() }

// LookGeneration implements [headcount.LeaseStore]. The generation is fresh for one
// TTL after a start that restored nothing: a kill loses the memory.
func (s *Leases) LookGeneration(context.Context, headcount.AccountHash) (headcount.Generation, error) {
	return headcount.Generation{ID: s.generation.Load(), Fresh: s.fresh()}, nil
}

// fresh reports whether the memory was lost less than one TTL ago.
func (s *Leases) fresh() bool {
	lost := s.lost.Load()
	return lost != neverLost && s.clock.now()-lost < s.ttl
}
