package storetest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/headcount-live/headcount"
)

// LeasesBench measures a store: play-starts on accounts with none and with two live
// streams, renewals one at a time and in batches, denials. Parallel, as many clients
// as the bench has processors.
func LeasesBench(b *testing.B, open func(b *testing.B) headcount.LeaseStore) {
	ctx := context.Background()
	account := func(n uint64) (a headcount.AccountHash) {
		binary.LittleEndian.PutUint64(a[:], n*0x9e3779b97f4a7c15)
		binary.LittleEndian.PutUint64(a[8:], n*0xd6e8feb86659fd93)
		return a
	}
	ask := func(n uint64, dev byte, limit int) *headcount.AcquireRequest {
		r := &headcount.AcquireRequest{Account: account(n), Limit: limit, Device: headcount.DeviceHash{dev, 4: 1}, Meta: headcount.Metadata{
			DeviceMeta: `"a device of 24 bytes.."`, ProfileID: "profile8", TitleID: "title-of-12b",
		}}
		r.Lease[5] = dev
		_, _ = rand.Read(r.Lease[9:]) // never fails
		return r
	}
	const accounts = 1000
	filled := func(b *testing.B) (headcount.LeaseStore, []headcount.RenewRequest) {
		store := open(b)
		var held []headcount.RenewRequest
		for n := range uint64(accounts) {
			for dev := range byte(2) {
				r := ask(n, dev+1, 2)
				if _, err := store.Acquire(ctx, r); err != nil {
					b.Fatal(err)
				}
				held = append(held, headcount.RenewRequest{Account: r.Account, Lease: r.Lease})
			}
		}
		return store, held
	}
	var next atomic.Uint64
	b.Run("acquire/empty", func(b *testing.B) {
		store := open(b)
		next.Store(1 << 32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := store.Acquire(ctx, ask(next.Add(1), 1, 2)); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("acquire/takeover", func(b *testing.B) {
		store, _ := filled(b)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := store.Acquire(ctx, ask(next.Add(1)%accounts, 1, 2)); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("acquire/denied", func(b *testing.B) {
		store, _ := filled(b)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := store.Acquire(ctx, ask(next.Add(1)%accounts, 9, 2)); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("renew", func(b *testing.B) {
		store, held := filled(b)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				r := held[next.Add(7)%uint64(len(held))]
				if res, err := store.Renew(ctx, &r); err != nil || res.State != headcount.RenewOK {
					b.Error(res, err)
				}
			}
		})
	})
	b.Run("renew/batch", func(b *testing.B) {
		store, held := filled(b)
		results := make([]headcount.RenewResult, len(held))
		b.ResetTimer()
		for n := 0; n < b.N; n += len(held) {
			store.RenewBatch(ctx, held, results)
		}
	})
}
