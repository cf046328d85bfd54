package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/headcount-live/headcount"
)

// Options configures [NewLeases].
type Options struct {
	Client rueidis.Client
	TTL    time.Duration // of a lease since its last renewal, and of a tombstone
	// Offset, if set, is added to the server's clock: how tests let time pass.
	Offset func() time.Duration
}

// Leases is a [headcount.LeaseStore] on Redis. It is safe for concurrent use.
type Leases struct {
	client                                         rueidis.Client
	ttl                                            time.Duration
	offset                                         func() time.Duration
	acquire, renew, end, list, watched, generation script
	shards                                         *shards
}

var _ headcount.LeaseStore = (*Leases)(nil)

// NewLeases returns a store over a connected client, once every shard has told its
// generation. It does not close the client.
func NewLeases(ctx context.Context, o Options) (*Leases, error) {
	if o.TTL < time.Second {
		return nil, fmt.Errorf("redis: a lease TTL of %v is below one second", o.TTL)
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	s := &Leases{
		client: o.Client, ttl: o.TTL, offset: o.Offset,
		acquire: newScript(acquireLua), renew: newScript(renewLua), end: newScript(endLua),
		list: newScript(listLua), watched: newScript(watchLua), generation: newScript(generationLua),
		shards: newShards(o.Client),
	}
	return s, s.poll(ctx)
}

// slackArg is how long a key may outlive what it holds.
func (s *Leases) slackArg() string  { return millis(s.ttl.Milliseconds() / 2) }
func (s *Leases) ttlArg() string    { return millis(s.ttl.Milliseconds()) }
func (s *Leases) offsetArg() string { return millis(s.offset().Milliseconds()) }

// Acquire implements [headcount.LeaseStore] in one script call.
func (s *Leases) Acquire(ctx context.Context, r *headcount.AcquireRequest) (headcount.AcquireResult, error) {
	target := ""
	if r.Replace != (headcount.LeaseID{}) {
		target = string(r.Replace[:])
	}
	msg, err := s.acquire.run(ctx, s.client, accountKey(r.Account), string(r.Lease[:]), string(r.Device[:]),
		strconv.Itoa(r.Limit), target, r.Meta.DeviceMeta, r.Meta.ProfileID, r.Meta.TitleID, s.ttlArg(), s.slackArg(), s.offsetArg()).ToMessage()
	if err != nil {
		return headcount.AcquireResult{}, err
	}
	if msg.IsInt64() {
		n, err := msg.AsInt64()
		return headcount.AcquireResult{Admitted: true, TookOver: n == 2}, err
	}
	raw, err := msg.ToString()
	if err != nil {
		return headcount.AcquireResult{}, err
	}
	p, err := unpack(raw)
	return headcount.AcquireResult{Active: p.live()}, err
}

func (s *Leases) renewArgs(r *headcount.RenewRequest) []string {
	args := []string{string(r.Lease[:]), s.ttlArg(), s.slackArg(), s.offsetArg(), strconv.Itoa(r.Revive)}
	if !r.Meta.Empty() {
		args = append(args, r.Meta.DeviceMeta, r.Meta.ProfileID, r.Meta.TitleID)
	}
	return args
}

// Renew implements [headcount.LeaseStore] in one script call.
func (s *Leases) Renew(ctx context.Context, r *headcount.RenewRequest) (headcount.RenewResult, error) {
	return renewed(s.renew.run(ctx, s.client, accountKey(r.Account), s.renewArgs(r)...))
}

// RenewBatch implements [headcount.LeaseStore], pipelined per shard.
func (s *Leases) RenewBatch(ctx context.Context, reqs []headcount.RenewRequest, results []headcount.RenewResult) {
	keys, args := make([]string, len(reqs)), make([][]string, len(reqs))
	for i := range reqs {
		keys[i], args[i] = accountKey(reqs[i].Account), s.renewArgs(&reqs[i])
	}
	for i, res := range s.renew.runAll(ctx, s.client, keys, args) {
		r, err := renewed(res)
		r.Err = err
		results[i] = r
	}
}

func renewed(res rueidis.RedisResult) (headcount.RenewResult, error) {
	msg, err := res.ToMessage()
	if err != nil {
		return headcount.RenewResult{}, err
	}
	if msg.IsInt64() {
		n, err := msg.AsInt64()
		return headcount.RenewResult{State: headcount.RenewState(n)}, err
	}
	parts, err := msg.ToArray()
	if err != nil || len(parts) != 3 {
		return headcount.RenewResult{}, errors.Join(errPacked, err)
	}
	reason, err1 := parts[0].AsInt64()
	at, err2 := parts[1].AsInt64()
	by, err3 := parts[2].ToString()
	return headcount.RenewResult{
		State: headcount.RenewStopped,
		Ended: ended(byte(reason), at, []byte(by)),
	}, errors.Join(err1, err2, err3)
}

// Release implements [headcount.LeaseStore] in one script call.
func (s *Leases) Release(ctx context.Context, a headcount.AccountHash, id headcount.LeaseID) (bool, error) {
	n, err := s.finish(ctx, a, string(id[:]), "0")
	return n > 0, err
}

// Stop implements [headcount.LeaseStore] in one script call.
func (s *Leases) Stop(ctx context.Context, a headcount.AccountHash, id headcount.LeaseID) (bool, error) {
	n, err := s.finish(ctx, a, string(id[:]), s.ttlArg())
	return n > 0, err
}

// StopAll implements [headcount.LeaseStore] in one script call.
func (s *Leases) StopAll(ctx context.Context, a headcount.AccountHash) (int, error) {
	return s.finish(ctx, a, "", s.ttlArg())
}

func (s *Leases) finish(ctx context.Context, a headcount.AccountHash, id, keep string) (int, error) {
	n, err := s.end.run(ctx, s.client, accountKey(a), id, keep, s.slackArg(), s.offsetArg()).AsInt64()
	return int(n), err
}

// List implements [headcount.LeaseStore] in one script call that writes nothing.
func (s *Leases) List(ctx context.Context, a headcount.AccountHash) ([]headcount.Lease, error) {
	raw, err := s.list.run(ctx, s.client, accountKey(a), s.offsetArg()).ToString()
	if err != nil {
		return nil, err
	}
	p, err := unpack(raw)
	return p.live(), err
}
