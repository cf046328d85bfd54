package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headcount-live/headcount"
)

// LeasesModel drives a store and a plain model of an account with the same random
// steps and holds their answers equal. open is as for [Leases].
func LeasesModel(t *testing.T, open func(t *testing.T) LeaseStoreAt) {
	store := open(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		h := newHousehold(t, store)
		h.account = h.hasher.Account(fmt.Sprint("model ", runs, time.Now().UnixNano()))
		m := &modelRun{rt: rt, store: store, h: h, ids: []headcount.LeaseID{{}}}
		rt.Repeat(map[string]func(*rapid.T){
			"acquire":  m.acquire,
			"acquire2": m.acquire,
			"renew":    m.renew,
			"renew2":   m.renew,
			"release":  m.release,
			"stop":     m.stop,
			"stop all": m.stopAll,
			"pass":     m.pass,
			"":         m.compare,
		})
	})
}

type modelRun struct {
	rt    *rapid.T
	store LeaseStoreAt
	h     *household
	model accountModel
	ids   []headcount.LeaseID // all that were ever minted, and the zero one
}

var (
	modelDevices  = rapid.IntRange(0, 4)
	modelLimits   = rapid.IntRange(0, 4)
	modelMetadata = rapid.Custom(func(t *rapid.T) headcount.Metadata {
		return headcount.Metadata{
			DeviceMeta: rapid.SampledFrom([]string{"", `"tv"`, `{"name":"a longer name of a device"}`}).Draw(t, "meta"),
			ProfileID:  rapid.SampledFrom([]string{"", "p", "profile"}).Draw(t, "profile"),
			TitleID:    rapid.SampledFrom([]string{"", "t", "another title"}).Draw(t, "title"),
		}
	})
)

func (m *modelRun) mint() headcount.LeaseID {
	id := m.h.mint(device(modelDevices.Draw(m.rt, "device"))).id
	m.ids = append(m.ids, id)
	return id
}

func (m *modelRun) some() headcount.LeaseID { return rapid.SampledFrom(m.ids).Draw(m.rt, "id") }

func (m *modelRun) acquire(*rapid.T) {
	dev := m.h.device(device(modelDevices.Draw(m.rt, "device")))
	id, err := m.h.signer.Mint(1, dev)
	if err != nil {
		m.rt.Fatal(err)
	}
	m.ids = append(m.ids, id)
	r := headcount.AcquireRequest{
		Account: m.h.account, Device: dev, Lease: id,
		Limit: modelLimits.Draw(m.rt, "limit"), Replace: m.some(), Meta: modelMetadata.Draw(m.rt, "metadata"),
	}
	admitted, tookOver := m.model.acquire(r)
	got := m.h.acquire(r)
	if got.Admitted != admitted || got.TookOver != tookOver {
		m.rt.Fatalf("got %+v, want admitted %v, took over %v", got, admitted, tookOver)
	}
	if !admitted {
		m.same(got.Active)
	}
}

func (m *modelRun) renew(*rapid.T) {
	id := m.some()
	if id == (headcount.LeaseID{}) || rapid.IntRange(0, 4).Draw(m.rt, "unknown") == 0 {
		id = m.mint()
	}
	r := headcount.RenewRequest{Account: m.h.account, Lease: id, Revive: modelLimits.Draw(m.rt, "revive")}
	if rapid.Bool().Draw(m.rt, "describes itself") {
		r.Meta = modelMetadata.Draw(m.rt, "metadata")
	}
	want := m.model.renew(r)
	got, err := m.store.Renew(context.Background(), &r)
	if err != nil || got.State != want {
		m.rt.Fatalf("renewal: got %d, %v; want %d", got.State, err, want)
	}
	if tomb, stopped := m.model.tomb(id); want == headcount.RenewStopped && stopped {
		if got.Ended.Reason != tomb.reason || string(got.Ended.By) != tomb.by || got.Ended.StoppedAt == 0 {
			m.rt.Fatalf("ended: got %+v, want %+v", got.Ended, tomb)
		}
	}
}

func (m *modelRun) release(*rapid.T) {
	id := m.some()
	if want, got := m.model.release(id), m.h.release(stream{id: id}); got != want {
		m.rt.Fatalf("release: got %v, want %v", got, want)
	}
}

func (m *modelRun) stop(*rapid.T) {
	id := m.some()
	want := m.model.end(id, headcount.ReasonForceStopped, "")
	if got := m.h.stop(stream{id: id}); got != want {
		m.rt.Fatalf("stop: got %v, want %v", got, want)
	}
}

func (m *modelRun) stopAll(*rapid.T) {
	got, err := m.store.StopAll(context.Background(), m.h.account)
	if want := m.model.endAll(); err != nil || got != want {
		m.rt.Fatalf("stop all: got %d, %v; want %d", got, err, want)
	}
}

func (m *modelRun) pass(*rapid.T) {
	seconds := rapid.IntRange(1, 60).Draw(m.rt, "seconds")
	m.store.Advance(time.Duration(seconds) * time.Second)
	m.model.pass(seconds)
}

func (m *modelRun) compare(*rapid.T) { m.same(m.h.list()) }

// same holds live leases equal to the model's. A store's clock also runs by itself,
// so the second a lease lapses in may be one less.
func (m *modelRun) same(got []headcount.Lease) {
	if len(got) != len(m.model.leases) {
		m.rt.Fatalf("live: got %x, want %+v", leaseIDs(got), m.model.leases)
	}
	for i, want := range m.model.leases {
		left := want.expires - m.model.now
		if g := got[i]; g.ID != want.id || metadataOf(g) != want.metadata || g.LapsesInSec > left || g.LapsesInSec < left-1 {
			m.rt.Fatalf("lease %d: got %+v, want %+v", i, g, want)
		}
	}
}
