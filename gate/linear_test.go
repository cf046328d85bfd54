package gate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/headcount-live/headcount"
)

// Devices fight for the slots of one account. Whatever they see must be what they
// would see if somebody had served them one after the other: never more streams
// than the limit, never a denial while a slot is free.
func TestConcurrentHistoriesAreLinearizable(t *testing.T) {
	for _, limit := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("N=%d", limit), func(t *testing.T) {
			h := newHouse(t)
			for round := range 20 {
				account := fmt.Sprint("account ", round)
				h.may(account, limit, headcount.StatusActive)
				history := fight(h, account, rand.New(rand.NewPCG(uint64(limit), uint64(round))))
				if result := porcupine.CheckOperationsTimeout(accountModel(limit), history, 10*time.Second); result != porcupine.Ok {
					t.Fatalf("round %d: the history is %s:\n%v", round, result, history)
				}
			}
		})
	}
}

const fighters = 5 // devices, each with a client of its own

// step is one operation on an account: what was asked and what was answered.
type step struct {
	op     string // play, beat, release, stop or list
	device int
	id     string // beat, release and stop: the stream; play: the one to replace
}

type answer struct {
	ok     bool
	id     string // of the stream that was admitted
	active string // of a list or a denial: the streams, sorted
}

// fight lets every device do 12 things to the account, at the same time, and
// returns what happened when.
func fight(h *house, account string, random *rand.Rand) []porcupine.Operation {
	h.Helper()
	var mu sync.Mutex
	var history []porcupine.Operation
	issued := []string{""}
	began := time.Now()
	var clients sync.WaitGroup
	for device := range fighters {
		seed := random.Uint64()
		clients.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			for range 12 {
				mu.Lock()
				s := step{device: device, id: issued[random.IntN(len(issued))]}
				mu.Unlock()
				s.op = []string{"play", "play", "beat", "release", "stop", "list"}[random.IntN(6)]
				call := time.Since(began)
				out := take(h, account, s)
				operation := porcupine.Operation{
					ClientId: device, Input: s, Output: out, Call: int64(call), Return: int64(time.Since(began)),
				}
				mu.Lock()
				history = append(history, operation)
				if out.id != "" {
					issued = append(issued, out.id)
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return history
}

// take takes one step through the gate.
func take(h *house, account string, s step) answer {
	ctx := h.Context()
	switch s.op {
	case "play":
		r := request(account, fmt.Sprint(s.device))
		r.Replace = s.id
		play, err := h.Play(ctx, r)
		if denied := (*headcount.Error)(nil); errors.As(err, &denied) {
			return answer{active: sorted(denied.Denied.Active)}
		}
		return answer{ok: true, id: play.StreamID}
	case "beat":
		_, err := h.beat(account, s.id)
		return answer{ok: err == nil}
	case "release":
		return answer{ok: h.Release(ctx, account, s.id) == nil}
	case "stop":
		return answer{ok: h.Stop(ctx, account, s.id) == nil}
	}
	listing, err := h.List(ctx, account)
	return answer{ok: err == nil, active: sorted(listing.Active)}
}

// streams is the whole state of an account: the stream of each device, or "".
type streams [fighters]string

// accountModel says what each step does to an account when it is alone.
func accountModel(limit int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return streams{} },
		Step: func(state, input, output any) (bool, any) {
			live, s, out := state.(streams), input.(step), output.(answer)
			holder := slices.Index(live[:], s.id)
			known := s.id != "" && holder >= 0
			switch s.op {
			case "play":
				return live.play(s, out, limit, known, holder)
			case "beat":
				return out.ok == known, live
			case "release", "stop":
				legal := out.ok == (known || s.op == "release")
				if known {
					live[holder] = ""
				}
				return legal, live
			}
			return out.ok && out.active == live.sorted(), live
		},
	}
}

func (live streams) play(s step, out answer, limit int, known bool, holder int) (bool, streams) {
	others := len(live.ids())
	if known {
		others--
	}
	if live[s.device] == "" && others >= limit {
		return !out.ok && out.active == live.sorted(), live
	}
	if known {
		live[holder] = ""
	}
	live[s.device] = out.id
	return out.ok, live
}

func (live streams) ids() []string {
	return slices.DeleteFunc(slices.Clone(live[:]), func(id string) bool { return id == "" })
}

func (live streams) sorted() string {
	return strings.Join(slices.Sorted(slices.Values(live.ids())), " ")
}

func sorted(leases []headcount.Lease) string {
	var ids []string
	for _, lease := range leases {
		ids = append(ids, lease.StreamID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}
