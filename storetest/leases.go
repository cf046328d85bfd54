package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headcount-live/headcount"
)

// LeaseTTL is the TTL of the stores that [Leases] opens.
const LeaseTTL = 90 * time.Second

// LeaseStoreAt is a store and its clock.
type LeaseStoreAt struct {
	headcount.LeaseStore
	Advance func(time.Duration) // moves the store's clock on
}

// Leases runs what every [headcount.LeaseStore] must do. open returns a store whose
// leases live for [LeaseTTL] and closes it with the test; it may be one store for
// all calls, since every case has accounts of its own.
func Leases(t *testing.T, open func(t *testing.T) LeaseStoreAt) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, LeaseStoreAt)
	}{
		{"AdmitsUpToTheLimit", leaseLimit},
		{"DenialCarriesTheHolders", leaseDenial},
		{"SilenceFreesTheSlot", leaseSilence},
		{"RenewalsHoldTheSlot", leaseRenewals},
		{"ExpiredIsNeverRevived", leaseNoRevival},
		{"SameDeviceTakesOver", leaseTakeover},
		{"FullAccountNeverLocksOutItsOwnDevice", leaseOwnDevice},
		{"AskingAgainChangesNothing", leaseAgain},
		{"SwapStopsTheNamedStream", leaseSwap},
		{"SwapWithoutRoomStopsNothing", leaseSwapNoRoom},
		{"SwapOfOneselfIsATakeover", leaseSwapSelf},
		{"SwapAndTakeoverAtOnce", leaseSwapTakeover},
		{"ReleaseLeavesNoTombstone", leaseRelease},
		{"StopLeavesATombstoneForOneTTL", leaseStop},
		{"StopAll", leaseStopAll},
		{"NewestSixteenTombstones", leaseTombstones},
		{"AccountsAreApart", leaseAccounts},
		{"MetadataComesBackByteForByte", leaseMetadata},
		{"RenewalReplacesWhatItGives", leaseDescribe},
		{"BatchAnswersInOrder", leaseBatch},
		{"Reregistration", leaseReregister},
		{"ReregisteredDeviceTakesOver", leaseReregisteredDevice},
		{"ReregistrationHasItsBounds", leaseReregisterBounds},
		{"WatchTellsTheEnd", leaseWatch},
		{"WatchOfWhatIsOver", leaseWatchOver},
		{"Generation", leaseGeneration},
		{"Stampede", leaseStampede},
		{"LimitZero", leaseZero},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// Play after play is admitted until as many are live as the limit says.
func leaseLimit(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	for _, limit := range []int{1, 2, 4, 64} {
		h.newAccount()
		for i := range limit {
			h.admitted(h.play(device(i), limit))
		}
		h.denied(h.play(device(limit), limit), limit)
	}
}

// A denial lists who holds the slots, oldest first, with when each lapses.
func leaseDenial(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 2)
	s.Advance(10 * time.Second)
	phone := h.play("phone", 2)
	s.Advance(1500 * time.Millisecond)
	h.renew(tv, headcount.RenewOK)
	s.Advance(8 * time.Second)
	got := h.denied(h.play("tablet", 2), 2)
	if ids := leaseIDs(got); !cmp.Equal(ids, []headcount.LeaseID{tv.id, phone.id}) {
		t.Fatalf("the oldest must come first: got %x", ids)
	}
	// 8 s since the TV's renewal; 9.5 s since the phone pressed play. Rounded up.
	near(t, "the TV lapses in", got[0].LapsesInSec, 82)
	near(t, "the phone lapses in", got[1].LapsesInSec, 81)
	if d := got[1].StartedAt - got[0].StartedAt; d < 10_000 || d > 11_000 {
		t.Errorf("the phone started %d ms after the TV, want 10 s", d)
	}
	if d := got[0].LastSeen - got[0].StartedAt; d < 11_500 || d > 12_500 {
		t.Errorf("the TV was seen %d ms after its start, want 11.5 s", d)
	}
}

// A crashed player's slot frees itself one TTL after it was last heard.
func leaseSilence(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	h.admitted(h.play("tv", 1))
	s.Advance(LeaseTTL - time.Second)
	h.denied(h.play("phone", 1), 1)
	s.Advance(time.Second)
	if got := h.list(); len(got) != 0 {
		t.Errorf("an expired lease is listed: %v", got)
	}
	h.admitted(h.play("phone", 1))
}

// A player that keeps beating holds its slot for ever.
func leaseRenewals(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 1)
	for range 10 {
		s.Advance(LeaseTTL - time.Second)
		h.renew(tv, headcount.RenewOK)
	}
	h.denied(h.play("phone", 1), 1)
}

// A lease that lapsed stays unknown, and so does one that never was.
func leaseNoRevival(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 1)
	s.Advance(LeaseTTL)
	h.renew(tv, headcount.RenewUnknown)
	h.renew(h.mint("phone"), headcount.RenewUnknown)
	if h.stop(tv) || h.release(tv) {
		t.Error("a lapsed lease was ended a second time")
	}
}

// The same device again is the app reopened: its old stream ends as replaced by
// the new one, and the count does not grow.
func leaseTakeover(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	old := h.play("tv", 2)
	h.admitted(h.play("phone", 2))
	s.Advance(time.Second)
	again := h.ask(headcount.AcquireRequest{Limit: 2, Meta: headcount.Metadata{DeviceMeta: `"the new app"`}}, "tv")
	h.admitted(again)
	if !again.result.TookOver {
		t.Error("the store does not say that the device took over")
	}
	ended := h.renew(old, headcount.RenewStopped)
	if ended.Reason != headcount.ReasonReplaced || string(ended.By) != `"the new app"` {
		t.Errorf("the old app is told %v by %s", ended.Reason, ended.By)
	}
	if got := h.list(); len(got) != 2 || got[1].ID != again.id {
		t.Errorf("two streams are live, the new one youngest: got %x", leaseIDs(got))
	}
}

// A device that is on a full, or since lowered, account always gets back in.
func leaseOwnDevice(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	for i := range 4 {
		h.admitted(h.play(device(i), 4))
	}
	h.admitted(h.play(device(2), 1))
	h.admitted(h.play(device(2), 0))
	if got := h.list(); len(got) != 4 {
		t.Errorf("got %d live streams, want the 4 as before", len(got))
	}
	h.denied(h.play(device(9), 4), 4)
}

// An answer that was lost is asked for again with the same lease: nothing changes.
func leaseAgain(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 1)
	again := h.acquire(headcount.AcquireRequest{Limit: 1, Lease: tv.id, Device: h.device("tv")})
	if !again.Admitted || again.TookOver {
		t.Errorf("got %+v", again)
	}
	h.renew(tv, headcount.RenewOK)
}

func leaseZero(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	h.denied(h.play("tv", 0), 0)
}
