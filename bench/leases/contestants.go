package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	_ "embed"

	"github.com/redis/rueidis"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/redis"
)

const ttl = 10 * time.Minute // nothing lapses while it is measured

// What a device says of itself, with the sizes of `headcount bench engine`.
const (
	deviceMeta = `"a device of 24 bytes.."`
	profileID  = "profile8"
	titleID    = "title-of-12b"
)

// ours is the store of package redis.
type ours struct {
	store  *redis.Leases
	hasher *headcount.Hasher
}

func openOurs(ctx context.Context, c rueidis.Client) (contestant, error) {
	s, err := redis.NewLeases(ctx, redis.Options{Client: c, TTL: ttl})
	return ours{s, headcount.NewHasher([]byte("bench"))}, err
}

// ids derives an account and the lease of a device on it.
func (o ours) ids(account uint64, device byte) (headcount.AccountHash, headcount.DeviceHash, headcount.LeaseID) {
	a := o.hasher.Account(fmt.Sprintf("%010d", account))
	d := o.hasher.Device(a, fmt.Sprintf("device-%025d", device), "")
	var id headcount.LeaseID
	copy(id[5:], d[:4])
	binary.LittleEndian.PutUint16(id[9:], uint16(device))
	return a, d, id
}

func (o ours) play(ctx context.Context, account uint64, device byte) error {
	a, d, id := o.ids(account, device)
	res, err := o.store.Acquire(ctx, &headcount.AcquireRequest{
		Account: a, Device: d, Lease: id, Limit: 3,
		Meta: headcount.Metadata{DeviceMeta: deviceMeta, ProfileID: profileID, TitleID: titleID},
	})
	if err == nil && !res.Admitted {
		err = fmt.Errorf("account %d was denied", account)
	}
	return err
}

func (o ours) renew(ctx context.Context, account uint64, device byte) error {
	a, _, id := o.ids(account, device)
	res, err := o.store.Renew(ctx, &headcount.RenewRequest{Account: a, Lease: id})
	if err == nil && res.State != headcount.RenewOK {
		err = fmt.Errorf("a stream of account %d is not live", account)
	}
	return err
}

func (o ours) stop(ctx context.Context, account uint64, device byte) error {
	a, _, id := o.ids(account, device)
	_, err := o.store.Release(ctx, a, id)
	return err
}

// reference is a sorted set and a hash an account, by one script.
type reference struct {
	client rueidis.Client
	script *rueidis.Lua
}

//go:embed reference.lua
var referenceLua string

func openReference(_ context.Context, c rueidis.Client) (contestant, error) {
	return reference{c, rueidis.NewLuaScript(referenceLua)}, nil
}

// referenceIDs returns the account's two keys and a stream id of 40 characters.
func referenceIDs(account uint64, device byte) (keys []string, stream string) {
	tag := fmt.Sprintf("{%010d}", account)
	return []string{"streams:" + tag, "meta:" + tag}, fmt.Sprintf("%d-stream-of-%010d-on-this-account-..", device, account)
}

func (r reference) call(ctx context.Context, account uint64, device byte, limit, meta string) error {
	keys, stream := referenceIDs(account, device)
	n, err := r.script.Exec(ctx, r.client, keys, []string{stream, limit, fmt.Sprint(ttl.Milliseconds()), meta}).AsInt64()
	if err == nil && n != 1 {
		err = fmt.Errorf("account %d: got %d", account, n)
	}
	return err
}

func (r reference) play(ctx context.Context, account uint64, device byte) error {
	// What a listing shows, as JSON: the texts, the device and when it started.
	meta := fmt.Sprintf(`{"device_id":"device-%025d","device_meta":%s,"profile_id":%q,"title_id":%q,"started_at":%d}`,
		device, deviceMeta, profileID, titleID, time.Now().UnixMilli())
	return r.call(ctx, account, device, "3", meta)
}

func (r reference) renew(ctx context.Context, account uint64, device byte) error {
	return r.call(ctx, account, device, "-1", "")
}

func (r reference) stop(ctx context.Context, account uint64, device byte) error {
	keys, stream := referenceIDs(account, device)
	for _, res := range r.client.DoMulti(ctx,
		r.client.B().Zrem().Key(keys[0]).Member(stream).Build(), r.client.B().Hdel().Key(keys[1]).Field(stream).Build()) {
		if err := res.Error(); err != nil {
			return err
		}
	}
	return nil
}
