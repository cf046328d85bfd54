package gate_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/gate"
	"github.com/headcount-live/headcount/memory"
)

const ttl = 90 * time.Second

// house is a gate with all that is behind it, and one account, alice, that may
// play two streams.
type house struct {
	*gate.Gate
	testing.TB
	config   gate.Config // of the gate, to make another node like it
	live     *liveStore
	plans    *gate.Plans
	log      bytes.Buffer
	registry *prometheus.Registry
}

// story runs a test on the clock of a bubble, where sleeping takes no time.
func story(t *testing.T, tell func(h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { tell(newHouse(t)) })
}

func newHouse(tb testing.TB) *house {
	tb.Helper()
	h := &house{TB: tb, registry: prometheus.NewRegistry(), live: &liveStore{LeaseStore: newLeases(tb)}}
	signer, err := headcount.NewSigner([][]byte{[]byte("a secret of thirty-two bytes or more")}, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	h.plans, err = gate.NewPlans(gate.PlansConfig{
		Store:       memory.NewPlans(time.Now),
		Catalogue:   headcount.DefaultCatalogue(),
		DefaultPlan: "standard",
		Logger:      slog.New(slog.DiscardHandler),
		Registerer:  h.registry,
	})
	if err != nil {
		tb.Fatal(err)
	}
	h.config = gate.Config{
		Leases:            h.live,
		Plans:             h.plans,
		Signer:            signer,
		Hasher:            headcount.NewHasher([]byte("a key")),
		TTL:               ttl,
		HeartbeatInterval: 30 * time.Second,
		Logger:            slog.New(slog.NewTextHandler(&h.log, nil)),
		Registerer:        h.registry,
	}
	h.Gate = gate.New(h.config)
	return h
}

func newLeases(tb testing.TB) *memory.Leases {
	tb.Helper()
	leases, err := memory.NewLeases(memory.LeaseOptions{TTL: ttl, Rand: rand.Reader})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(leases.Close)
	return leases
}

// loseMemory puts an empty store in the place of the one that knew the leases.
func (h *house) loseMemory() {
	h.Helper()
	h.live.LeaseStore = newLeases(h.TB)
}

// may gives an account a limit of its own.
func (h *house) may(account string, limit int, status headcount.Status) {
	h.Helper()
	row := headcount.Plan{AccountID: account, Plan: "standard", MaxStreams: &limit, Status: status}
	if _, err := h.plans.Put(h.Context(), row); err != nil {
		h.Fatal(err)
	}
}

// play starts a stream that must be admitted. The device's name is its metadata.
func (h *house) play(account, device string) (streamID string) {
	h.Helper()
	play, err := h.Play(h.Context(), request(account, device))
	if err != nil {
		h.Fatalf("%s plays on %s: %v", account, device, err)
	}
	return play.StreamID
}

func request(account, device string) *gate.PlayRequest {
	meta, err := json.Marshal(device)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return &gate.PlayRequest{Account: account, Device: device, Meta: headcount.Metadata{DeviceMeta: string(meta)}}
}

// beat sends a heartbeat without metadata.
func (h *house) beat(account, streamID string) (gate.Beat, error) {
	return h.Heartbeat(h.Context(), &gate.HeartbeatRequest{Account: account, StreamID: streamID})
}

// alive fails the test unless every stream of alice is renewed.
func (h *house) alive(streamIDs ...string) {
	h.Helper()
	for i, id := range streamIDs {
		if beat, err := h.beat("alice", id); err != nil || beat.Reregistered {
			h.Errorf("stream %d beats: got %+v, %v, want a plain renewal", i, beat, err)
		}
	}
}

// wantDevices fails the test unless the account plays on these devices, named by
// their metadata ("" where it is forgotten), oldest first.
func (h *house) wantDevices(account string, devices ...string) {
	h.Helper()
	listing, err := h.List(h.Context(), account)
	if err != nil {
		h.Fatal(err)
	}
	got := []string{}
	for _, lease := range listing.Active {
		got = append(got, strings.Trim(strings.TrimPrefix(string(lease.DeviceMeta), "null"), `"`))
	}
	if !slices.Equal(got, devices) {
		h.Errorf("%s plays on %q, want %q", account, got, devices)
	}
}

// wantCode returns err as the error that it must be.
func (h *house) wantCode(err error, want headcount.Code) *headcount.Error {
	h.Helper()
	var e *headcount.Error
	if !errors.As(err, &e) || e.Code != want {
		h.Fatalf("got %v, want %s", err, want)
	}
	if e.Message == "" {
		h.Errorf("%s says nothing to the developer", want)
	}
	return e
}

// wantStopped fails the test unless err says that a stream was stopped for a reason.
func (h *house) wantStopped(err error, reason headcount.Reason, by string) {
	h.Helper()
	ended := h.wantCode(err, headcount.CodeStreamStopped).Ended
	if ended == nil || ended.Reason != reason || string(ended.By) != by {
		h.Errorf("got %+v, want %s by %s", ended, reason, by)
	}
}
