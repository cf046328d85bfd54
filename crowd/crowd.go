package crowd

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"

	"github.com/headcount-live/headcount"
)

// Crowd counts how many people are on every page: the window of what this node
// hears, the exchange with the other nodes, and the board that readers see.
//
// Beats, leaves, counts and subscriptions are safe for concurrent use and work
// whether or not [Crowd.Run] runs, but only Run lets silent viewers go.
type Crowd struct {
	opts     Options
	clock    *clock
	window   *window
	exchange *Exchange
	jitter   *rand.Rand // of Run

	ready      chan struct{} // closed by the first Sync that the store answered
	synced     atomic.Int64  // engine time of the last such, -1 before
	local      atomic.Bool   // the window of this node is the whole truth
	follow     *following
	watches    []watchShard // by partition
	readers    atomic.Int64
	lastReport atomic.Int64            // how long it took, in nanoseconds
	outcomes   [outcomes]atomic.Uint64 // of beats that were not just renewals
	leaves     atomic.Uint64
	metrics    metrics
}

// New returns a Crowd that has heard nobody yet. It talks to no store before
// [Crowd.Run].
func New(opts Options) (*Crowd, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	var seed [24]byte
	if _, err := io.ReadFull(opts.Rand, seed[:]); err != nil {
		return nil, fmt.Errorf("crowd: read randomness: %w", err)
	}
	if opts.Node == 0 {
		opts.Node = headcount.NodeID(binary.LittleEndian.Uint64(seed[16:]))
	}
	c := &Crowd{
		opts:    opts,
		clock:   newClock(opts.Now),
		window:  newWindow(opts.Partitions, int32(opts.Window.Milliseconds()), opts.MaxPages, opts.MaxSessions),
		jitter:  rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:16]))), // spreads nodes over time, keeps no secret
		follow:  newFollowing(opts.Partitions),
		watches: make([]watchShard, opts.Partitions),
		ready:   make(chan struct{}),
	}
	c.synced.Store(-1)
	c.exchange = NewExchange(ExchangeOptions{
		Store:          opts.Store,
		Self:           opts.Node,
		Local:          newView(c.window),
		Fingerprint:    opts.Hasher.Fingerprint(),
		Partitions:     opts.Partitions,
		ExactThreshold: opts.ExactThreshold,
		Freshness:      Freshness(opts.ReportInterval),
		Now:            opts.Now,
		Logger:         opts.Logger,
		Forget:         c.forget,
	})
	c.metrics, err = newMetrics(c, opts.Registerer)
	return c, err
}

func (c *Crowd) pageID(page string) pageID {
	key, salt := c.opts.Hasher.Page(page)
	return pageID{PageKey(key), salt}
}

// Beat notes that a session is on a page, and reports whether it counts. It does
// not where it is new and the filter keeps it out or a cap is reached. The strings
// are not kept. It never blocks for long: no store is asked.
func (c *Crowd) Beat(page, session string, from Visitor) bool {
	s := c.window.sight(c.pageID(page), c.opts.Hasher.Session(session))
	return c.beat(&s, from, c.clock.millis())
}

func (c *Crowd) beat(s *sighting, from Visitor, now uint32) bool {
	if c.window.renew(s, now) {
		return true
	}
	what := filtered
	if c.opts.Filter.Allow(from) {
		what = c.window.add(s, now)
	}
	c.outcomes[what].Add(1)
	return what <= added
}

// Beat is one heartbeat of a batch.
type Beat struct {
	Page, Session string
}

// BeatBatch notes heartbeats as [Crowd.Beat] does, all from one visitor, and
// returns how many count.
func (c *Crowd) BeatBatch(beats []Beat, from Visitor) (accepted int) {
	now := c.clock.millis()
	for len(beats) > 0 {
		n := min(len(beats), batchBeats)
		accepted += c.beatSome(beats[:n], from, now)
		beats = beats[n:]
	}
	return accepted
}

// batchBeats is how many beats are prepared together: their table slots come from
// memory at the same time rather than one after the other.
const batchBeats = 32

func (c *Crowd) beatSome(beats []Beat, from Visitor, now uint32) (accepted int) {
	var sightings [batchBeats]sighting
	for i := range beats {
		s := &sightings[i]
		*s = c.window.sight(c.pageID(beats[i].Page), c.opts.Hasher.Session(beats[i].Session))
		c.window.prefetch(s)
	}
	for i := range beats {
		if c.beat(&sightings[i], from, now) {
			accepted++
		}
	}
	return accepted
}

// Leave notes that a session left a page: it is out of the count at the next
// report. It does nothing for a stranger, and the session's next beat brings it
// back. It never blocks.
func (c *Crowd) Leave(page, session string) {
	id, hash := c.pageID(page), c.opts.Hasher.Session(session)
	s := c.window.sight(id, hash)
	c.leaves.Add(1)
	if !c.window.leave(&s) && !c.local.Load() {
		c.exchange.Leave(id.key, hash)
	}
}

// forget drops a session that left a page on another node.
func (c *Crowd) forget(page PageKey, session uint64) {
	partition := page.Partition(c.opts.Partitions)
	if salt, ok := c.window.parts[partition].pages.salt(page); ok {
		s := c.window.sight(pageID{page, salt}, session)
		c.window.leave(&s)
	}
}
