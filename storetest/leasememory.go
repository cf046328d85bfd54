package storetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headcount-live/headcount"
)

// What a player says about itself comes back as it came, at every size.
func leaseMetadata(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	for _, m := range []headcount.Metadata{
		{},
		{DeviceMeta: `"Living Room TV"`, ProfileID: "p1", TitleID: "t1"},
		{DeviceMeta: `{ "name": "Phone\u0000" }`, TitleID: "ü😀"},
		{DeviceMeta: `"` + strings.Repeat("m", 510) + `"`, ProfileID: strings.Repeat("p", 128), TitleID: strings.Repeat("t", 128)},
	} {
		h.newAccount()
		h.admitted(h.ask(headcount.AcquireRequest{Limit: 1, Meta: m}, "tv"))
		if got := metadataOf(h.list()[0]); !cmp.Equal(got, m) {
			t.Errorf("got %+v, want %+v", got, m)
		}
	}
}

// A renewal replaces the parts it gives, longer or shorter, and keeps the others.
func leaseDescribe(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	h.play("phone", 3)
	tv := h.ask(headcount.AcquireRequest{Limit: 3, Meta: headcount.Metadata{DeviceMeta: `"tv"`, ProfileID: "p1", TitleID: "t1"}}, "tv")
	h.play("tablet", 3)
	for _, step := range []struct{ give, want headcount.Metadata }{
		{headcount.Metadata{TitleID: "a much longer title"}, headcount.Metadata{DeviceMeta: `"tv"`, ProfileID: "p1", TitleID: "a much longer title"}},
		{headcount.Metadata{ProfileID: "p"}, headcount.Metadata{DeviceMeta: `"tv"`, ProfileID: "p", TitleID: "a much longer title"}},
		{headcount.Metadata{DeviceMeta: `""`, TitleID: "t"}, headcount.Metadata{DeviceMeta: `""`, ProfileID: "p", TitleID: "t"}},
	} {
		h.renewWith(headcount.RenewRequest{Lease: tv.id, Meta: step.give}, headcount.RenewOK)
		got := h.list()
		if len(got) != 3 || got[1].ID != tv.id || !cmp.Equal(metadataOf(got[1]), step.want) {
			t.Errorf("after %+v: got %+v", step.give, got)
		}
	}
}

func metadataOf(l headcount.Lease) headcount.Metadata {
	m := headcount.Metadata{DeviceMeta: string(l.DeviceMeta)}
	if l.ProfileID != nil {
		m.ProfileID = *l.ProfileID
	}
	if l.TitleID != nil {
		m.TitleID = *l.TitleID
	}
	return m
}

// A batch answers each item as if it had come alone, in its place.
func leaseBatch(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	var reqs []headcount.RenewRequest
	var want []headcount.RenewState
	for i := range 100 {
		h.newAccount()
		tv := h.play("tv", 1)
		state := headcount.RenewOK
		switch i % 4 {
		case 1:
			h.stop(tv)
			state = headcount.RenewStopped
		case 2:
			tv = h.mint("phone")
			state = headcount.RenewUnknown
		}
		reqs = append(reqs, headcount.RenewRequest{Account: h.account, Lease: tv.id})
		want = append(want, state)
	}
	results := make([]headcount.RenewResult, len(reqs))
	s.RenewBatch(context.Background(), reqs, results)
	for i, r := range results {
		if r.State != want[i] || r.Err != nil {
			t.Errorf("item %d: got %d, %v; want %d", i, r.State, r.Err, want[i])
		}
	}
	s.RenewBatch(context.Background(), nil, nil)
}

// A store told to revive takes a lease back that it does not know. What it knew of
// it is gone until the player says it again.
func leaseReregister(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.mint("tv")
	h.renewWith(headcount.RenewRequest{Lease: tv.id, Revive: 2}, headcount.RenewReregistered)
	got := h.list()
	if len(got) != 1 || got[0].ID != tv.id || got[0].DeviceMeta != nil || got[0].ProfileID != nil {
		t.Fatalf("got %+v", got)
	}
	h.renewWith(headcount.RenewRequest{Lease: tv.id, Meta: headcount.Metadata{DeviceMeta: `"tv"`}}, headcount.RenewOK)
	if got := h.list(); string(got[0].DeviceMeta) != `"tv"` {
		t.Errorf("got %s", got[0].DeviceMeta)
	}
	s.Advance(LeaseTTL)
	h.renew(tv, headcount.RenewUnknown)
}

// One lease a device holds after a loss too, by the device bytes of the lease id.
func leaseReregisteredDevice(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.mint("tv")
	h.renewWith(headcount.RenewRequest{Lease: tv.id, Revive: 2}, headcount.RenewReregistered)
	h.renewWith(headcount.RenewRequest{Lease: h.mint("tv").id, Revive: 2}, headcount.RenewUnknown)
	again := h.admitted(h.play("tv", 1))
	if !again.result.TookOver {
		t.Error("the device did not find its own lease")
	}
	h.renewWith(headcount.RenewRequest{Lease: tv.id, Revive: 2}, headcount.RenewStopped)
}

// Not beyond the bound given, not what was stopped, and newcomers wait.
func leaseReregisterBounds(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	for i := range 4 {
		h.renewWith(headcount.RenewRequest{Lease: h.mint(device(i)).id, Revive: 4}, headcount.RenewReregistered)
	}
	h.renewWith(headcount.RenewRequest{Lease: h.mint(device(4)).id, Revive: 4}, headcount.RenewUnknown)
	h.denied(h.play(device(5), 2), 4)

	h.newAccount()
	tv := h.play("tv", 1)
	h.stop(tv)
	h.renewWith(headcount.RenewRequest{Lease: tv.id, Revive: 4}, headcount.RenewStopped)

	// Lapsed leases take no room.
	h.newAccount()
	h.play("tv", 1)
	s.Advance(LeaseTTL + time.Second)
	h.renewWith(headcount.RenewRequest{Lease: h.mint("phone").id, Revive: 1}, headcount.RenewReregistered)
}

// The generation to mint with is the one that a look at the shard finds.
func leaseGeneration(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	g, err := s.LookGeneration(context.Background(), h.account)
	if err != nil || g.ID != s.Generation(h.account) {
		t.Errorf("got %+v, %v; minting with %d", g, err, s.Generation(h.account))
	}
	s.Advance(LeaseTTL)
	if g, err := s.LookGeneration(context.Background(), h.account); err != nil || g.Fresh {
		t.Errorf("one TTL on: %+v, %v; want one that is not fresh", g, err)
	}
}
