package memory

// Stats is what a store of leases holds.
type Stats struct {
	Leases     int   // in the table, lapsed ones not yet swept included
	Accounts   int   // with a lease or a tombstone
	Tombstones int   // likewise
	Bytes      int64 // outside the heap
}

// Stats counts, locking each shard for a moment.
func (s *Leases) Stats() Stats {
	st := Stats{Bytes: s.blocks.Bytes() + s.cells.Bytes()}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		st.Leases += sh.leases.n
		st.Accounts += sh.accounts.n
		st.Tombstones += sh.tombs
		sh.mu.Unlock()
	}
	return st
}
