package storetest

import (
	"slices"

	"github.com/headcount-live/headcount"
)

// accountModel says in the plainest way what one account of a lease store does. Time
// is in whole seconds; a moment that is reached counts as passed.
type accountModel struct {
	now    int
	leases []modelLease // oldest first
	tombs  []modelTomb  // oldest first
}

type modelLease struct {
	id       headcount.LeaseID
	device   headcount.DeviceHash
	short    bool // re-registered: only the first four bytes of device are known
	expires  int
	metadata headcount.Metadata
}

type modelTomb struct {
	id      headcount.LeaseID
	reason  headcount.Reason
	by      string
	expires int
}

const (
	modelTTL   = 90
	modelTombs = 16
)

func (m *accountModel) pass(seconds int) {
	m.now += seconds
	m.leases = slices.DeleteFunc(m.leases, func(l modelLease) bool { return l.expires <= m.now })
	m.tombs = slices.DeleteFunc(m.tombs, func(t modelTomb) bool { return t.expires <= m.now })
}

func (m *accountModel) find(id headcount.LeaseID) int {
	return slices.IndexFunc(m.leases, func(l modelLease) bool { return l.id == id })
}

func (m *accountModel) acquire(r headcount.AcquireRequest) (admitted, tookOver bool) {
	if m.find(r.Lease) >= 0 {
		return true, false
	}
	own := slices.IndexFunc(m.leases, func(l modelLease) bool {
		return l.device == r.Device || l.short && [4]byte(l.device[:4]) == [4]byte(r.Device[:4])
	})
	named := m.find(r.Replace)
	room := r.Limit - len(m.leases)
	if named >= 0 {
		room++
	}
	if own < 0 && room <= 0 {
		return false, false
	}
	var ownID headcount.LeaseID
	if own >= 0 {
		ownID = m.leases[own].id
		m.end(ownID, headcount.ReasonReplaced, r.Meta.DeviceMeta)
	}
	if r.Replace != ownID {
		m.end(r.Replace, headcount.ReasonForceStopped, "")
	}
	m.leases = append(m.leases, modelLease{id: r.Lease, device: r.Device, expires: m.now + modelTTL, metadata: r.Meta})
	return true, own >= 0
}

func (m *accountModel) renew(r headcount.RenewRequest) headcount.RenewState {
	if i := m.find(r.Lease); i >= 0 {
		l := &m.leases[i]
		l.expires = m.now + modelTTL
		if r.Meta.DeviceMeta != "" {
			l.metadata.DeviceMeta = r.Meta.DeviceMeta
		}
		if r.Meta.ProfileID != "" {
			l.metadata.ProfileID = r.Meta.ProfileID
		}
		if r.Meta.TitleID != "" {
			l.metadata.TitleID = r.Meta.TitleID
		}
		return headcount.RenewOK
	}
	if _, stopped := m.tomb(r.Lease); stopped {
		return headcount.RenewStopped
	}
	twin := slices.ContainsFunc(m.leases, func(l modelLease) bool { return l.id.Device() == r.Lease.Device() })
	if twin || len(m.leases) >= r.Revive {
		return headcount.RenewUnknown
	}
	short := r.Lease.Device()
	l := modelLease{id: r.Lease, short: true, expires: m.now + modelTTL, metadata: r.Meta}
	copy(l.device[:], short[:])
	m.leases = append(m.leases, l)
	return headcount.RenewReregistered
}

func (m *accountModel) tomb(id headcount.LeaseID) (modelTomb, bool) {
	i := slices.IndexFunc(m.tombs, func(t modelTomb) bool { return t.id == id })
	if i < 0 {
		return modelTomb{}, false
	}
	return m.tombs[i], true
}

// end ends a live lease with a tombstone and reports whether it was live.
func (m *accountModel) end(id headcount.LeaseID, reason headcount.Reason, by string) bool {
	if !m.release(id) {
		return false
	}
	m.tombs = append(m.tombs, modelTomb{id: id, reason: reason, by: by, expires: m.now + modelTTL})
	m.tombs = m.tombs[max(0, len(m.tombs)-modelTombs):]
	return true
}

func (m *accountModel) release(id headcount.LeaseID) bool {
	i := m.find(id)
	if i < 0 {
		return false
	}
	m.leases = slices.Delete(m.leases, i, i+1)
	return true
}

func (m *accountModel) endAll() int {
	n := len(m.leases)
	for len(m.leases) > 0 {
		m.end(m.leases[0].id, headcount.ReasonForceStopped, "")
	}
	return n
}
