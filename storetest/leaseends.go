package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headcount-live/headcount"
)

// Choosing a stream to stop frees its slot for the asker, in one step.
func leaseSwap(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv, phone := h.play("tv", 2), h.play("phone", 2)
	tablet := h.admitted(h.ask(headcount.AcquireRequest{Limit: 2, Replace: phone.id}, "tablet"))
	if ended := h.renew(phone, headcount.RenewStopped); ended.Reason != headcount.ReasonForceStopped || ended.By != nil {
		t.Errorf("the phone is told %v by %s", ended.Reason, ended.By)
	}
	if got := leaseIDs(h.list()); !cmp.Equal(got, []headcount.LeaseID{tv.id, tablet.id}) {
		t.Errorf("live: got %x", got)
	}
	// A name that is gone frees nothing.
	h.denied(h.ask(headcount.AcquireRequest{Limit: 2, Replace: phone.id}, "laptop"), 2)
}

// On an account that was lowered far, one stream less is still too many.
func leaseSwapNoRoom(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	first := h.play(device(0), 4)
	for i := 1; i < 4; i++ {
		h.play(device(i), 4)
	}
	h.denied(h.ask(headcount.AcquireRequest{Limit: 3, Replace: first.id}, "tablet"), 4)
	h.renew(first, headcount.RenewOK)
	h.admitted(h.ask(headcount.AcquireRequest{Limit: 4, Replace: first.id}, "tablet"))
}

// Naming one's own stream is the takeover it would be anyway.
func leaseSwapSelf(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 1)
	h.admitted(h.ask(headcount.AcquireRequest{Limit: 1, Replace: tv.id}, "tv"))
	if ended := h.renew(tv, headcount.RenewStopped); ended.Reason != headcount.ReasonReplaced {
		t.Errorf("got %v", ended.Reason)
	}
}

// A device that takes over its own stream and names another ends both.
func leaseSwapTakeover(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv, phone := h.play("tv", 2), h.play("phone", 2)
	h.admitted(h.ask(headcount.AcquireRequest{Limit: 2, Replace: phone.id}, "tv"))
	if ended := h.renew(tv, headcount.RenewStopped); ended.Reason != headcount.ReasonReplaced {
		t.Errorf("the TV is told %v", ended.Reason)
	}
	if ended := h.renew(phone, headcount.RenewStopped); ended.Reason != headcount.ReasonForceStopped {
		t.Errorf("the phone is told %v", ended.Reason)
	}
	if got := h.list(); len(got) != 1 {
		t.Errorf("%d are live, want the new one", len(got))
	}
}

// A player that stops by itself frees its slot at once and leaves nothing behind.
func leaseRelease(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 1)
	if !h.release(tv) || h.release(tv) {
		t.Error("the first release finds the lease, the second does not")
	}
	h.renew(tv, headcount.RenewUnknown)
	h.admitted(h.play("phone", 1))
}

// A kick frees the slot at once; the player learns of it for one TTL.
func leaseStop(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 1)
	s.Advance(time.Minute)
	if !h.stop(tv) || h.stop(tv) {
		t.Error("the first stop finds the lease, the second does not")
	}
	h.admitted(h.play("phone", 1))
	s.Advance(LeaseTTL - time.Second)
	ended := h.renew(tv, headcount.RenewStopped)
	if ended.Reason != headcount.ReasonForceStopped || ended.StoppedAt == 0 {
		t.Errorf("got %+v", ended)
	}
	s.Advance(time.Second)
	h.renew(tv, headcount.RenewUnknown)
}

func leaseStopAll(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	gone := h.play("gone", 4)
	s.Advance(LeaseTTL)
	all := []stream{h.play("tv", 4), h.play("phone", 4), h.play("tablet", 4)}
	n, err := s.StopAll(context.Background(), h.account)
	if err != nil || n != 3 {
		t.Fatalf("stopped %d, %v; want 3, the lapsed one not counted", n, err)
	}
	for _, one := range all {
		h.renew(one, headcount.RenewStopped)
	}
	h.renew(gone, headcount.RenewUnknown)
	if n, _ := s.StopAll(context.Background(), h.account); n != 0 {
		t.Errorf("stopped %d again", n)
	}
}

// An account remembers its newest sixteen ends.
func leaseTombstones(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	var all []stream
	for i := range 20 {
		all = append(all, h.play(device(i), 1))
		h.stop(all[i])
	}
	for i, one := range all {
		want := headcount.RenewStopped
		if i < 4 {
			want = headcount.RenewUnknown
		}
		h.renew(one, want)
	}
}

// What one account does never touches another, even with the other's lease id.
func leaseAccounts(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 1)
	owner := h.account
	h.newAccount()
	h.renew(tv, headcount.RenewUnknown)
	if h.stop(tv) || h.release(tv) {
		t.Error("another account's lease was ended")
	}
	h.admitted(h.ask(headcount.AcquireRequest{Limit: 1, Replace: tv.id}, "tv"))
	h.account = owner
	h.renew(tv, headcount.RenewOK)
}

// An open watch hears of the end at once, whoever brought it about.
func leaseWatch(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	for _, tt := range []struct {
		name string
		end  func(stream)
		want headcount.Reason
	}{
		{"stop", func(w stream) { h.stop(w) }, headcount.ReasonForceStopped},
		{"stop all", func(stream) { _, _ = s.StopAll(context.Background(), h.account) }, headcount.ReasonForceStopped},
		{"takeover", func(stream) { h.play("tv", 1) }, headcount.ReasonReplaced},
		{"swap", func(w stream) { h.ask(headcount.AcquireRequest{Limit: 1, Replace: w.id}, "x") }, headcount.ReasonForceStopped},
	} {
		h.newAccount()
		tv := h.play("tv", 1)
		one, two := h.watch(tv), h.watch(tv)
		tt.end(tv)
		for _, c := range []<-chan headcount.Ended{one, two} {
			if ended, _ := soon(t, tt.name, c); ended.Reason != tt.want {
				t.Errorf("%s: a watcher is told %v", tt.name, ended.Reason)
			}
			if _, open := soon(t, "the close", c); open {
				t.Errorf("%s: a second value", tt.name)
			}
		}
	}
	h.newAccount()
	ctx, cancel := context.WithCancel(context.Background())
	c, err := s.Watch(ctx, h.account, h.play("tv", 1).id)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if ended, open := soon(t, "the close", c); open {
		t.Errorf("a watcher that left is told %v", ended)
	}
}

// What was stopped answers at once; what lapsed or never was is unknown.
func leaseWatchOver(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	tv := h.play("tv", 2)
	h.stop(tv)
	if ended, _ := soon(t, "the end", h.watch(tv)); ended.Reason != headcount.ReasonForceStopped {
		t.Errorf("got %v", ended.Reason)
	}
	for name, gone := range map[string]stream{"unknown": h.mint("x"), "released": func() stream {
		p := h.play("phone", 2)
		h.release(p)
		return p
	}()} {
		if _, err := s.Watch(context.Background(), h.account, gone.id); headcount.ErrorCode(err) != headcount.CodeLeaseExpired {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Of a thousand that press play at once, exactly the limit is let in.
func leaseStampede(t *testing.T, s LeaseStoreAt) {
	h := newHousehold(t, s)
	for _, limit := range []int{1, 2, 4} {
		h.newAccount()
		streams := make([]stream, 1000)
		for i := range streams {
			streams[i] = h.mint(device(i))
		}
		var crowd sync.WaitGroup
		gun := make(chan struct{})
		for i := range streams {
			crowd.Go(func() {
				<-gun
				r := headcount.AcquireRequest{Account: h.account, Device: h.device(device(i)), Lease: streams[i].id, Limit: limit}
				res, err := s.Acquire(context.Background(), &r)
				if err != nil {
					t.Error(err)
				}
				streams[i].result = res
			})
		}
		close(gun)
		crowd.Wait()
		won := 0
		for _, one := range streams {
			if one.result.Admitted {
				won++
			}
		}
		if won != limit || len(h.list()) != limit {
			t.Errorf("%d were let in and %d are live, want %d", won, len(h.list()), limit)
		}
	}
}
