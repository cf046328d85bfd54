package gate_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
	"github.com/headcount-live/headcount/memory"
)

// Whatever happens to an account, in whatever order, every answer is the one that
// a small model of the contract gives: plays, beats, kicks, silence, changes of
// the plan, and losses of the store's memory.
func TestModel(t *testing.T) {
	h := newHouse(t)
	evening := 0
	rapid.Check(t, func(rt *rapid.T) {
		evening++
		m := &modelled{house: h, account: fmt.Sprint("account ", evening)}
		m.loseMemory()
		defer func() { m.store.Close() }() // whichever it is by then
		m.plan(2, headcount.StatusActive)
		rt.Repeat(map[string]func(*rapid.T){
			"play":    m.playOne,
			"beat":    m.beatOne,
			"release": m.releaseOne,
			"stop":    m.stopOne,
			"wait":    func(rt *rapid.T) { m.wait(rapid.SampledFrom([]int{1, 29, 61, 89, 90}).Draw(rt, "seconds")) },
			"lose":    func(*rapid.T) { m.store.Close(); m.loseMemory() },
			"plan": func(rt *rapid.T) {
				status := []headcount.Status{headcount.StatusActive, headcount.StatusActive, headcount.StatusChurned}
				m.plan(rapid.IntRange(0, 3).Draw(rt, "limit"), rapid.SampledFrom(status).Draw(rt, "status"))
			},
			"": m.checkList,
		})
	})
}

// modelled is an account of a house, and what the model knows of it. Time is in
// seconds and stands still between waits.
type modelled struct {
	house   *house
	account string
	store   *memory.Leases
	skew    *atomic.Int64 // of the store's clock: its sweep reads it too
	now     int

	limit   int
	status  headcount.Status
	memory  int // which life of the store's memory this is
	began   int
	streams []*modelStream // all there ever were, the live ones by age
	tombs   []*modelStream // in this memory, the newest last
}

type modelStream struct {
	id      string
	device  string
	memory  int  // in which it was minted
	live    bool // in the memory that is, unless it lapsed
	renewed int
	stopped int
}

func (m *modelled) loseMemory() {
	m.skew = new(atomic.Int64)
	skew := m.skew
	store, err := memory.NewLeases(memory.LeaseOptions{
		TTL: ttl, Rand: rand.Reader, Skew: func() time.Duration { return time.Duration(skew.Load()) * time.Second },
	})
	if err != nil {
		m.house.Fatal(err)
	}
	m.store, m.house.live.LeaseStore = store, store
	m.memory++
	m.began, m.tombs = m.now, nil
	for _, s := range m.streams {
		s.live = false
	}
}

func (m *modelled) wait(seconds int) {
	m.now += seconds
	m.skew.Add(int64(seconds))
}

func (m *modelled) plan(limit int, status headcount.Status) {
	m.limit, m.status = limit, status
	m.house.may(m.account, limit, status)
}

// live returns the live streams, oldest first.
func (m *modelled) live() (streams []*modelStream) {
	for _, s := range m.streams {
		if s.live && m.now-s.renewed < int(ttl/time.Second) {
			streams = append(streams, s)
		} else {
			s.live = false
		}
	}
	return streams
}

func (m *modelled) of(device string) *modelStream {
	for _, s := range m.live() {
		if s.device == device {
			return s
		}
	}
	return nil
}

// bury ends a stream with a tombstone.
func (m *modelled) bury(s *modelStream) {
	s.live, s.stopped = false, m.now
	m.tombs = append(m.tombs, s)
}

// remembered reports whether a stream's tombstone still stands.
func (m *modelled) remembered(s *modelStream) bool {
	newest := m.tombs[max(0, len(m.tombs)-16):]
	return slices.Contains(newest, s) && m.now-s.stopped < int(ttl/time.Second)
}

// add puts a stream behind all others: it is the youngest from now on.
func (m *modelled) add(s *modelStream) {
	m.streams = slices.DeleteFunc(m.streams, func(old *modelStream) bool { return old == s })
	s.live, s.renewed = true, m.now
	m.streams = append(m.streams, s)
}

func (m *modelled) playOne(rt *rapid.T) {
	device := rapid.SampledFrom([]string{"tv", "phone", "tablet", "laptop", "watch"}).Draw(rt, "device")
	r := request(m.account, device)
	named := m.draw(rt, "replace")
	if named != nil {
		r.Replace = named.id
	}
	play, err := m.house.Play(rt.Context(), r)

	own, others := m.of(device), len(m.live())
	if named != nil && slices.Contains(m.live(), named) {
		others--
	} else {
		named = nil
	}
	switch {
	case m.status != headcount.StatusActive:
		wantAnswer(rt, err, headcount.CodeSubscriptionInactive)
		return
	case own == nil && others >= m.limit:
		wantAnswer(rt, err, headcount.CodeStreamLimit)
		return
	}
	wantAnswer(rt, err, "")
	if own != nil {
		m.bury(own)
	}
	if named != nil && named != own {
		m.bury(named)
	}
	m.add(&modelStream{id: play.StreamID, device: device, memory: m.memory})
}

func (m *modelled) beatOne(rt *rapid.T) {
	s := m.draw(rt, "stream")
	if s == nil {
		return
	}
	beat, err := m.beat(rt, s)
	revivable := s.memory != m.memory && m.now-m.began < int(ttl/time.Second) && m.status == headcount.StatusActive
	switch {
	case slices.Contains(m.live(), s):
		s.renewed = m.now
		wantAnswer(rt, err, "")
	case m.remembered(s):
		wantAnswer(rt, err, headcount.CodeStreamStopped)
	case revivable && m.of(s.device) == nil && len(m.live()) < 2*m.limit:
		m.add(s)
		wantAnswer(rt, err, "")
		if !beat.Reregistered {
			rt.Error("a forgotten stream was renewed without a word")
		}
		return
	default:
		wantAnswer(rt, err, headcount.CodeLeaseExpired)
	}
	if beat.Reregistered {
		rt.Error("a stream that was known re-registered")
	}
}

// beat sends a beat alone or in a batch, which must not differ.
func (m *modelled) beat(rt *rapid.T, s *modelStream) (gate.Beat, error) {
	if rapid.Bool().Draw(rt, "alone") {
		return m.house.beat(m.account, s.id)
	}
	results := make([]gate.BeatResult, 1)
	m.house.HeartbeatBatch(rt.Context(), []gate.HeartbeatRequest{{Account: m.account, StreamID: s.id}}, results)
	return results[0].Beat, results[0].Err
}

func (m *modelled) releaseOne(rt *rapid.T) {
	if s := m.draw(rt, "stream"); s != nil {
		wantAnswer(rt, m.house.Release(rt.Context(), m.account, s.id), "")
		s.live = false
	}
}

func (m *modelled) stopOne(rt *rapid.T) {
	s := m.draw(rt, "stream")
	if s == nil {
		return
	}
	err := m.house.Stop(rt.Context(), m.account, s.id)
	if !slices.Contains(m.live(), s) {
		wantAnswer(rt, err, headcount.CodeStreamNotFound)
		return
	}
	wantAnswer(rt, err, "")
	m.bury(s)
}

func (m *modelled) checkList(rt *rapid.T) {
	listing, err := m.house.List(rt.Context(), m.account)
	wantAnswer(rt, err, "")
	var got, want []string
	for _, lease := range listing.Active {
		got = append(got, lease.StreamID)
	}
	for _, s := range m.live() {
		want = append(want, s.id)
	}
	if listing.Limit != m.limit || !slices.Equal(got, want) {
		rt.Fatalf("got %d, %q, want %d, %q", listing.Limit, got, m.limit, want)
	}
}

// draw picks one of the streams there ever were, or none.
func (m *modelled) draw(rt *rapid.T, label string) *modelStream {
	return rapid.SampledFrom(append([]*modelStream{nil}, m.streams...)).Draw(rt, label)
}

func wantAnswer(rt *rapid.T, err error, want headcount.Code) {
	rt.Helper()
	if got := headcount.ErrorCode(err); got != want {
		rt.Fatalf("got %v, want %q", err, want)
	}
}
