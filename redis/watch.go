package redis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/headcount-live/headcount"
)

// watchFor is how long a reader's note in the account lasts; it is renewed at a
// third of that. Scripts publish only for accounts with such a note, so that a
// stop costs nothing where nobody watches.
const watchFor = 30 * time.Second

// Watch implements [headcount.LeaseStore]. It subscribes before it reads, so no end
// falls between the two, and reads again at each notice, at each lapse and every
// ten seconds, so a lost notice only delays.
func (s *Leases) Watch(ctx context.Context, a headcount.AccountHash, id headcount.LeaseID) (<-chan headcount.Ended, error) {
	ctx, cancel := context.WithCancel(ctx)
	notices, err := s.subscribe(ctx, accountKey(a))
	if err != nil {
		cancel()
		return nil, err
	}
	p, err := s.see(ctx, a)
	if err == nil && p.expires(id) == 0 {
		if _, stopped := p.ended(id); !stopped {
			err = headcount.Errorf(headcount.CodeLeaseExpired, "no such stream is live; press play again")
		}
	}
	if err != nil {
		cancel()
		return nil, err
	}
	out := make(chan headcount.Ended, 1)
	go func() {
		defer close(out)
		defer cancel()
		s.await(ctx, a, id, p, notices, out)
	}()
	return out, nil
}

func (s *Leases) await(ctx context.Context, a headcount.AccountHash, id headcount.LeaseID, p packed, notices <-chan struct{}, out chan<- headcount.Ended) {
	left := time.Duration(p.expires(id)) * time.Millisecond
	for {
		if e, stopped := p.ended(id); stopped {
			out <- e
			return
		}
		if left <= 0 {
			out <- headcount.Ended{Reason: headcount.ReasonExpired, StoppedAt: headcount.Timestamp(p.now)}
			return
		}
		wait := time.NewTimer(min(left+time.Millisecond, watchFor/3))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-notices:
		case <-wait.C:
		}
		wait.Stop()
		next, err := s.see(ctx, a)
		if err != nil { // the store is away: what was true stays true until it answers
			left = max(left, time.Second)
			continue
		}
		p, left = next, time.Duration(next.expires(id))*time.Millisecond
	}
}

// see notes that somebody watches the account, and reads it.
func (s *Leases) see(ctx context.Context, a headcount.AccountHash) (packed, error) {
	raw, err := s.watched.run(ctx, s.client, accountKey(a), s.offsetArg(), millis(watchFor.Milliseconds())).ToString()
	if err != nil {
		return packed{}, err
	}
	return unpack(raw)
}

// subscribe delivers one notice, merged with others not yet taken, per message on
// the account's channel, until ctx ends. It returns when the server has confirmed.
func (s *Leases) subscribe(ctx context.Context, channel string) (<-chan struct{}, error) {
	notices, ready, failed := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		var once sync.Once
		confirmed := rueidis.WithOnSubscriptionHook(ctx, func(rueidis.PubSubSubscription) {
			once.Do(func() { close(ready) })
		})
		for {
			err := s.client.Receive(confirmed, s.client.B().Ssubscribe().Channel(channel).Build(), func(rueidis.PubSubMessage) {
				select {
				case notices <- struct{}{}:
				default:
				}
			})
			if ctx.Err() != nil {
				return
			}
			select {
			case failed <- err:
			default:
			}
			select { // the connection was lost; watching goes on by reading
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}()
	select {
	case <-ready:
		return notices, nil
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
