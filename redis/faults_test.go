package redis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/redis"
	"github.com/headcount-live/headcount/redis/redistest"
)

func account(n byte) headcount.AccountHash { return headcount.AccountHash{n, 15: n} }

func acquire(t testing.TB, s headcount.LeaseStore, n byte) headcount.LeaseID {
	t.Helper()
	id := headcount.LeaseID{0, 1, 1, 1, 1, n, 15: n}
	res, err := s.Acquire(ctx, &headcount.AcquireRequest{Account: account(n), Device: headcount.DeviceHash{n, 4: 1}, Lease: id, Limit: 1})
	if err != nil || !res.Admitted {
		t.Fatalf("play: %+v, %v", res, err)
	}
	return id
}

// After the last lease and the last tombstone there is no key, and no key outlives
// what it holds by more than half a TTL.
func TestNothingStaysBehind(t *testing.T) {
	server := redistest.Start(t)
	client := connect(t, server.URL())
	s, err := redis.NewLeases(ctx, redis.Options{Client: client, TTL: 90 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	keys := func() int64 {
		n, err := client.Do(ctx, client.B().Dbsize().Build()).AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		return n - 1 // the generation
	}
	released, lapsing, stopped := acquire(t, s, 1), acquire(t, s, 2), acquire(t, s, 3)
	if _, err := s.Release(ctx, account(1), released); err != nil || keys() != 2 {
		t.Errorf("after a release: %d keys, %v; want the other two", keys(), err)
	}
	if _, err := s.Renew(ctx, &headcount.RenewRequest{Account: account(2), Lease: lapsing}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stop(ctx, account(3), stopped); err != nil {
		t.Fatal(err)
	}
	all, err := client.Do(ctx, client.B().Keys().Pattern("hc1:*").Build()).AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range all {
		if strings.Contains(key, "generation") {
			continue
		}
		left, err := client.Do(ctx, client.B().Pttl().Key(key).Build()).AsInt64()
		if err != nil || left <= 0 || left > 135_000 {
			t.Errorf("%s lives for %d ms more, %v; want at most 90 s and half as much", key, left, err)
		}
	}
}

// A server that forgot its scripts is sent them again, one at a time and in batches.
func TestScriptsAreLoadedAgain(t *testing.T) {
	server := redistest.Start(t)
	s := openLeases(t, server.URL())
	id := acquire(t, s, 1)
	if _, err := redistest.Command(server.Addr, "SCRIPT", "FLUSH"); err != nil {
		t.Fatal(err)
	}
	results := make([]headcount.RenewResult, 2)
	reqs := []headcount.RenewRequest{{Account: account(1), Lease: id}, {Account: account(9), Lease: id}}
	s.RenewBatch(ctx, reqs, results)
	if results[0].State != headcount.RenewOK || results[1].State != headcount.RenewUnknown || results[0].Err != nil {
		t.Errorf("got %+v", results)
	}
	if _, err := redistest.Command(server.Addr, "SCRIPT", "FLUSH"); err != nil {
		t.Fatal(err)
	}
	if res, err := s.Renew(ctx, &reqs[0]); err != nil || res.State != headcount.RenewOK {
		t.Errorf("got %+v, %v", res, err)
	}
}

// However a server loses its memory, that is a new generation, fresh for one TTL.
func TestLostMemoryIsANewGeneration(t *testing.T) {
	server := redistest.Start(t)
	s := openLeases(t, server.URL())
	s.Advance(2 * time.Minute) // the first generation is no longer fresh
	look := func() headcount.Generation {
		t.Helper()
		var err error
		for range 100 { // a connection that died fails one call
			var g headcount.Generation
			if g, err = s.LookGeneration(ctx, account(1)); err == nil {
				return g
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal(err)
		panic("unreachable")
	}
	before := look()
	if before.Fresh {
		t.Fatal("the first generation is fresh after two minutes")
	}
	for name, lose := range map[string]func(){
		"FLUSHALL": func() { _, _ = redistest.Command(server.Addr, "FLUSHALL") },
		"kill -9":  func() { server.Kill(); server.Restart() },
	} {
		lose()
		after := look()
		if after.ID == before.ID || !after.Fresh {
			t.Errorf("%s: got %+v after %+v", name, after, before)
		}
		if again := look(); again.ID != after.ID || s.Generation(account(1)) != after.ID {
			t.Errorf("%s: the generation changes without a loss", name)
		}
		s.Advance(91 * time.Second)
		if old := look(); old.Fresh || old.ID != after.ID {
			t.Errorf("%s: one TTL later: %+v", name, old)
		}
		before = after
	}
}

// A frozen server costs a caller no more than its budget, and a frozen one that
// goes on has lost nothing.
func TestFrozenServer(t *testing.T) {
	server := redistest.Start(t)
	s := openLeases(t, server.URL())
	id := acquire(t, s, 1)
	server.Freeze()
	for range 3 {
		began := time.Now()
		if _, err := s.Renew(budget(t, 25*time.Millisecond), &headcount.RenewRequest{Account: account(1), Lease: id}); err == nil {
			t.Error("a frozen server answered")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("a budget of 25 ms was stretched to %v", took)
		}
	}
	server.Thaw()
	if res, err := s.Renew(budget(t, 5*time.Second), &headcount.RenewRequest{Account: account(1), Lease: id}); err != nil || res.State != headcount.RenewOK {
		t.Errorf("after the thaw: %+v, %v", res, err)
	}
}

// A URL that cannot be meant is refused with what to write instead, and no password
// shows in an error.
func TestConnectErrors(t *testing.T) {
	port := redistest.FreePort(t)
	for _, url := range []string{
		"127.0.0.1:6379", "http://127.0.0.1", "redis://127.0.0.1/x", "redis://127.0.0.1?ttl=5",
		fmt.Sprintf("redis://user:hunter2@127.0.0.1:%d", port),
	} {
		c, err := redis.Connect(budget(t, 3*time.Second), url)
		if err == nil {
			c.Close()
			t.Errorf("%s: no error", url)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password shows: %v", err)
		}
	}
}

func budget(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	within, cancel := context.WithTimeout(ctx, d)
	t.Cleanup(cancel)
	return within
}
