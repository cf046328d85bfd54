package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
)

// household is an account that presses play on a store.
type household struct {
	t       *testing.T
	store   headcount.LeaseStore
	hasher  *headcount.Hasher
	signer  *headcount.Signer
	account headcount.AccountHash
	fresh   int
}

// stream is a play and what became of it.
type stream struct {
	id     headcount.LeaseID
	result headcount.AcquireResult
}

func newHousehold(t *testing.T, s headcount.LeaseStore) *household {
	t.Helper()
	secret := make([]byte, headcount.MinSecretLen)
	if _, err := rand.Read(secret); err != nil {
		t.Fatal(err)
	}
	signer, err := headcount.NewSigner([][]byte{secret}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &household{t: t, store: s, hasher: headcount.NewHasher(secret), signer: signer}
	h.newAccount()
	return h
}

// newAccount moves on to an account that nobody used yet.
func (h *household) newAccount() {
	h.fresh++
	h.account = h.hasher.Account(fmt.Sprint("account ", h.fresh))
}

func device(i int) string { return fmt.Sprint("device ", i) }

func (h *household) device(name string) headcount.DeviceHash {
	return h.hasher.Device(h.account, name, "")
}

// mint makes a lease id that the store has not seen.
func (h *household) mint(deviceName string) stream { return h.mintUnder(1, deviceName) }

func (h *household) mintUnder(generation uint32, deviceName string) stream {
	h.t.Helper()
	id, err := h.signer.Mint(generation, h.device(deviceName))
	if err != nil {
		h.t.Fatal(err)
	}
	return stream{id: id}
}

func (h *household) acquire(r headcount.AcquireRequest) headcount.AcquireResult {
	h.t.Helper()
	r.Account = h.account
	res, err := h.store.Acquire(context.Background(), &r)
	if err != nil {
		h.t.Fatal(err)
	}
	return res
}

// ask presses play on a device with a new lease id.
func (h *household) ask(r headcount.AcquireRequest, deviceName string) stream {
	h.t.Helper()
	s := h.mint(deviceName)
	r.Lease, r.Device = s.id, h.device(deviceName)
	s.result = h.acquire(r)
	return s
}

func (h *household) play(deviceName string, limit int) stream {
	h.t.Helper()
	return h.ask(headcount.AcquireRequest{Limit: limit}, deviceName)
}

func (h *household) admitted(s stream) stream {
	h.t.Helper()
	if !s.result.Admitted {
		h.t.Fatalf("denied, with %d live", len(s.result.Active))
	}
	return s
}

func (h *household) denied(s stream, live int) []headcount.Lease {
	h.t.Helper()
	if s.result.Admitted {
		h.t.Fatal("admitted beyond the limit")
	}
	if len(s.result.Active) != live {
		h.t.Fatalf("the denial names %d live streams, want %d", len(s.result.Active), live)
	}
	return s.result.Active
}

func (h *household) renewWith(r headcount.RenewRequest, want headcount.RenewState) headcount.Ended {
	h.t.Helper()
	r.Account = h.account
	res, err := h.store.Renew(context.Background(), &r)
	if err != nil {
		h.t.Fatal(err)
	}
	if res.State != want {
		h.t.Fatalf("renewal: got state %d, want %d", res.State, want)
	}
	return res.Ended
}

func (h *household) renew(s stream, want headcount.RenewState) headcount.Ended {
	h.t.Helper()
	return h.renewWith(headcount.RenewRequest{Lease: s.id}, want)
}

func (h *household) list() []headcount.Lease {
	h.t.Helper()
	l, err := h.store.List(context.Background(), h.account)
	if err != nil {
		h.t.Fatal(err)
	}
	return l
}

func (h *household) stop(s stream) bool {
	h.t.Helper()
	ok, err := h.store.Stop(context.Background(), h.account, s.id)
	if err != nil {
		h.t.Fatal(err)
	}
	return ok
}

func (h *household) release(s stream) bool {
	h.t.Helper()
	ok, err := h.store.Release(context.Background(), h.account, s.id)
	if err != nil {
		h.t.Fatal(err)
	}
	return ok
}

func (h *household) watch(s stream) <-chan headcount.Ended {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h.t.Cleanup(cancel)
	c, err := h.store.Watch(ctx, h.account, s.id)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func leaseIDs(leases []headcount.Lease) []headcount.LeaseID {
	var ids []headcount.LeaseID
	for _, l := range leases {
		ids = append(ids, l.ID)
	}
	return ids
}

// near allows for the second that a slow machine takes between two steps.
func near(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want && got != want-1 {
		t.Errorf("%s %d s, want %d", what, got, want)
	}
}

// soon waits for a value that must come without further ado.
func soon[T any](t *testing.T, what string, c <-chan T) (T, bool) {
	t.Helper()
	select {
	case v, ok := <-c:
		return v, ok
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}
