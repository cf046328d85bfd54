package memory_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
)

var ctx = context.Background()

func newLeases(t testing.TB, ttl time.Duration) *memory.Leases {
	t.Helper()
	s, err := memory.NewLeases(memory.LeaseOptions{TTL: ttl, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func play(t testing.TB, s *memory.Leases, account, n byte, limit int) headcount.LeaseID {
	t.Helper()
	id := headcount.LeaseID{0, 1, 1, 1, 1, n, account, 0, 0, n}
	res, err := s.Acquire(ctx, &headcount.AcquireRequest{
		Account: headcount.AccountHash{account, 15: account},
		Device:  headcount.DeviceHash{n, account, 0, 0, 9},
		Lease:   id,
		Limit:   limit,
		Meta:    headcount.Metadata{DeviceMeta: `"tv"`, TitleID: string('a' + rune(n))},
	})
	if err != nil || !res.Admitted {
		t.Fatalf("device %d of account %d: %+v, %v", n, account, res, err)
	}
	return id
}

func renew(t testing.TB, s *memory.Leases, account byte, id headcount.LeaseID) headcount.RenewResult {
	t.Helper()
	res, err := s.Renew(ctx, &headcount.RenewRequest{Account: headcount.AccountHash{account, 15: account}, Lease: id})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func list(t testing.TB, s *memory.Leases, account byte) []headcount.Lease {
	t.Helper()
	l, err := s.List(ctx, headcount.AccountHash{account, 15: account})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A restart frees no slot and leaks none: leases and tombstones come back with one
// full TTL, with the times they had, under the same generation.
func TestRestartKeepsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := newLeases(t, 90*time.Second)
		tv, phone := play(t, before, 1, 1, 4), play(t, before, 1, 2, 4)
		kicked, lapsed := play(t, before, 1, 3, 4), play(t, before, 2, 4, 4)
		if ok, _ := before.Stop(ctx, headcount.AccountHash{1, 15: 1}, kicked); !ok {
			t.Fatal("not stopped")
		}
		time.Sleep(time.Minute)
		renew(t, before, 1, tv)
		renew(t, before, 1, phone)
		time.Sleep(40 * time.Second)
		want := list(t, before, 1)
		var file bytes.Buffer
		if err := before.WriteSnapshot(&file); err != nil {
			t.Fatal(err)
		}
		before.Close()

		time.Sleep(10 * time.Minute) // the machine is away for longer than a TTL
		after := newLeases(t, 90*time.Second)
		defer after.Close()
		if err := after.Restore(&file); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i].LapsesInSec = 90
		}
		if diff := cmp.Diff(want, list(t, after, 1)); diff != "" {
			t.Errorf("-before +after:\n%s", diff)
		}
		if g, _ := after.LookGeneration(ctx, headcount.AccountHash{}); g.Fresh || g.ID != before.Generation(headcount.AccountHash{}) {
			t.Errorf("nothing was lost, yet the generation is %+v", g)
		}
		if got := renew(t, after, 2, lapsed); got.State != headcount.RenewUnknown {
			t.Errorf("a lease that had lapsed came back: %+v", got)
		}
		time.Sleep(80 * time.Second)
		if got := renew(t, after, 1, kicked); got.State != headcount.RenewUnknown && got.Ended.Reason != headcount.ReasonForceStopped {
			t.Errorf("the kicked player is told %+v", got)
		}
		renew(t, after, 1, tv)
		time.Sleep(10 * time.Second)
		if got := list(t, after, 1); len(got) != 1 || got[0].ID != tv || time.Since(got[0].LastSeen.Time()) != 10*time.Second {
			t.Errorf("one TTL after the restart only the TV, which beat, is live: got %+v", got)
		}
	})
}

// A start that restores nothing has lost its memory: for one TTL a store may revive.
func TestKilledServerIsAFreshGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeases(t, 90*time.Second)
		defer s.Close()
		if g, _ := s.LookGeneration(ctx, headcount.AccountHash{}); !g.Fresh {
			t.Error("not fresh after a start with nothing")
		}
		time.Sleep(90 * time.Second)
		if g, _ := s.LookGeneration(ctx, headcount.AccountHash{}); g.Fresh {
			t.Error("fresh for longer than one TTL")
		}
	})
}

// A clean restart within one TTL of a crash cuts nobody who has not beaten since: the
// window in which streams re-register goes on.
func TestRestartKeepsTheWindowOfACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crashed := newLeases(t, 90*time.Second)
		time.Sleep(time.Minute)
		var file bytes.Buffer
		if err := crashed.WriteSnapshot(&file); err != nil {
			t.Fatal(err)
		}
		crashed.Close()
		after := newLeases(t, 90*time.Second)
		defer after.Close()
		if err := after.Restore(&file); err != nil {
			t.Fatal(err)
		}
		if g, _ := after.LookGeneration(ctx, headcount.AccountHash{}); !g.Fresh || g.ID != crashed.Generation(headcount.AccountHash{}) {
			t.Errorf("30 s before the window's end it is closed: %+v", g)
		}
		time.Sleep(90 * time.Second)
		if g, _ := after.LookGeneration(ctx, headcount.AccountHash{}); g.Fresh {
			t.Error("the window never ends")
		}
	})
}

// A malformed snapshot is refused, and what was read of it is dropped.
func TestMalformedSnapshotLeavesTheStoreEmpty(t *testing.T) {
	from := newLeases(t, 90*time.Second)
	defer from.Close()
	for n := range byte(20) {
		play(t, from, n, n, 1)
	}
	var file bytes.Buffer
	if err := from.WriteSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 4, 5, 6, 100, file.Len() / 2, file.Len() - 1} {
		s := newLeases(t, 90*time.Second)
		if err := s.Restore(bytes.NewReader(file.Bytes()[:cut])); err == nil {
			t.Errorf("cut to %d bytes: no error", cut)
		}
		for n := range byte(20) {
			if got := list(t, s, n); len(got) != 0 {
				t.Fatalf("cut to %d bytes: %d leases are live", cut, len(got))
			}
			play(t, s, n, n, 1)
		}
		s.Close()
	}
}

// A write error is the caller's to know.
func TestSnapshotWriteError(t *testing.T) {
	s := newLeases(t, 90*time.Second)
	defer s.Close()
	full := errors.New("disk full")
	if err := s.WriteSnapshot(writerFunc(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func FuzzRestore(f *testing.F) {
	s := newLeases(f, 90*time.Second)
	play(f, s, 1, 1, 2)
	id := play(f, s, 1, 2, 2)
	_, _ = s.Stop(ctx, headcount.AccountHash{1, 15: 1}, id)
	var file bytes.Buffer
	if err := s.WriteSnapshot(&file); err != nil {
		f.Fatal(err)
	}
	s.Close()
	f.Add(file.Bytes())
	f.Add([]byte{1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		s := newLeases(t, 90*time.Second)
		defer s.Close()
		if s.Restore(bytes.NewReader(content)) != nil {
			return
		}
		if err := s.WriteSnapshot(io.Discard); err != nil {
			t.Errorf("what was restored cannot be written: %v", err)
		}
	})
}
