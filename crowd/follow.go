package crowd

import (
	"context"
	"sync"
	"sync/atomic"
)

// followFor is how long a partition is fetched from the store after its last
// read, in milliseconds.
const followFor = 60_000

// following knows which partitions are read on this node, and lets the readers of
// one moment share one question to the store.
type following struct {
	read []atomic.Uint32 // by partition: engine time of the last read, with the lowest bit set
	asks []ask
}

// ask is the question about one partition.
type ask struct {
	mu   sync.Mutex
	done chan struct{} // of the question on its way, nil if none is
	at   uint32        // engine time of the last one, with the lowest bit set
}

// askEvery is how far apart the questions of readers about one partition are, in
// milliseconds, so that a store which is down does not slow every read.
const askEvery = 500

func newFollowing(partitions int) *following {
	return &following{read: make([]atomic.Uint32, partitions), asks: make([]ask, partitions)}
}

// note marks a partition as read. It rarely writes, so that many readers do not
// pass one word of memory around.
func (f *following) note(partition int, now uint32) {
	if at := f.read[partition].Load(); at == 0 || elapsed(now, at) > 1000 {
		f.read[partition].Store(now | 1)
	}
}

// followed returns the partitions that were read lately and match.
func (f *following) followed(now uint32, match func(partition int) bool) (partitions []int) {
	for p := range f.read {
		switch at := f.read[p].Load(); {
		case at == 0:
		case elapsed(now, at) > followFor:
			f.read[p].CompareAndSwap(at, 0)
		case match(p):
			partitions = append(partitions, p)
		}
	}
	return partitions
}

// once runs fetch, unless it runs for the partition already, and returns when it
// is done or ctx ends. It does nothing soon after the last time. The context of fetch is not that of the first asker alone,
// so its going away fails nobody else.
func (f *following) once(ctx context.Context, partition int, now uint32, fetch func(context.Context)) {
	a := &f.asks[partition]
	a.mu.Lock()
	done := a.done
	if done == nil {
		if a.at != 0 && elapsed(now, a.at) < askEvery {
			a.mu.Unlock()
			return
		}
		a.at = now | 1
		done = make(chan struct{})
		a.done = done
		go func() {
			fetch(context.WithoutCancel(ctx))
			a.mu.Lock()
			a.done = nil
			a.mu.Unlock()
			close(done)
		}()
	}
	a.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
