package load

import (
	"encoding/binary"
	"unsafe"

	"github.com/headcount-live/headcount"
)

// What a player says about itself: 24, 8 and 12 bytes.
const (
	viewerMeta    = `{"name":"Living room 1"}`
	viewerProfile = "profile1"
	viewerTitle   = "title-000042"
)

// viewer derives the requests of a lease from its number. Two leases with
// neighbouring numbers are two devices of one account. It writes ids into memory of
// its own, so that deriving them costs neither allocation nor storage.
type viewer struct {
	hasher    *headcount.Hasher
	accountID [10]byte
	deviceID  [32]byte
	acquire   headcount.AcquireRequest
	renew     headcount.RenewRequest
}

func newViewer(hasher *headcount.Hasher) *viewer {
	v := &viewer{hasher: hasher, acquire: headcount.AcquireRequest{
		Limit: 2,
		Meta:  headcount.Metadata{DeviceMeta: viewerMeta, ProfileID: viewerProfile, TitleID: viewerTitle},
	}}
	copy(v.deviceID[:], "device of thirty")
	return v
}

// play returns the play-start of a lease. The next call overwrites it.
func (v *viewer) play(number uint64) *headcount.AcquireRequest {
	v.acquire.Account, v.acquire.Device, v.acquire.Lease = v.names(number)
	return &v.acquire
}

// renewal returns the heartbeat of a lease. The next call overwrites it.
func (v *viewer) renewal(number uint64) *headcount.RenewRequest {
	v.renew.Account, _, v.renew.Lease = v.names(number)
	return &v.renew
}

// names hashes the ids of a lease as the server does and derives the lease id that
// the server would have drawn.
func (v *viewer) names(number uint64) (a headcount.AccountHash, d headcount.DeviceHash, id headcount.LeaseID) {
	n := number / 2
	for i := len(v.accountID) - 1; i >= 0; i-- {
		v.accountID[i] = '0' + byte(n%10)
		n /= 10
	}
	hex(v.deviceID[16:], number)
	a = v.hasher.Account(unsafe.String(&v.accountID[0], len(v.accountID)))
	d = v.hasher.Device(a, unsafe.String(&v.deviceID[0], len(v.deviceID)), "")
	copy(id[5:9], d[:4])
	binary.BigEndian.PutUint64(id[8:], mix(number)>>8|uint64(id[8])<<56)
	return a, d, id
}
