package redis

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/redis/rueidis"
)

const slots = 16384

// shard is one primary and the slots it serves.
type shard struct {
	addr       string
	marker     string // a key on this shard that holds its generation
	generation atomic.Uint32
}

// shards is the layout of the store: which shard serves which account. A single
// server and a Sentinel group are one shard.
type shards struct {
	client rueidis.Client
	layout atomic.Pointer[layout]
	tags   map[uint16]string // a hash tag for each slot met, filled as needed by refresh
}

type layout struct {
	all  []*shard
	slot [slots]uint16 // index into all
}

func newShards(c rueidis.Client) *shards {
	s := &shards{client: c, tags: map[uint16]string{}}
	s.layout.Store(&layout{all: []*shard{{marker: "hc1:{generation}"}}})
	return s
}

func (s *shards) of(key string) *shard {
	l := s.layout.Load()
	if len(l.all) == 1 {
		return l.all[0]
	}
	return l.all[l.slot[slotOf(key)]]
}

// refresh reads the layout of a cluster; elsewhere there is nothing to read. It is
// called by one goroutine at a time.
func (s *shards) refresh(ctx context.Context) ([]*shard, error) {
	old := s.layout.Load()
	if s.client.Mode() != rueidis.ClientModeCluster {
		return old.all, nil
	}
	ranges, err := s.client.Do(ctx, s.client.B().ClusterSlots().Build()).ToArray()
	if err != nil {
		return old.all, err
	}
	next := &layout{}
	index := map[string]uint16{}
	for _, r := range ranges {
		from, to, addr, err := slotRange(r)
		if err != nil {
			return old.all, err
		}
		i, known := index[addr]
		if !known {
			i = uint16(len(next.all))
			index[addr] = i
			next.all = append(next.all, keep(old, addr, "hc1:{"+s.tag(from)+"}"))
		}
		for n := int(from); n <= int(to); n++ {
			next.slot[n] = i
		}
	}
	if len(next.all) == 0 {
		return old.all, nil
	}
	s.layout.Store(next)
	return next.all, nil
}

// keep returns the shard with its address and marker as it was, or a new one.
func keep(l *layout, addr, marker string) *shard {
	for _, sh := range l.all {
		if sh.addr == addr && sh.marker == marker {
			return sh
		}
	}
	return &shard{addr: addr, marker: marker}
}

func slotRange(r rueidis.RedisMessage) (from, to uint16, addr string, err error) {
	parts, err := r.ToArray()
	if err != nil || len(parts) < 3 {
		return 0, 0, "", errPacked
	}
	a, err1 := parts[0].AsInt64()
	b, err2 := parts[1].AsInt64()
	node, err3 := parts[2].ToArray()
	if err1 != nil || err2 != nil || err3 != nil || len(node) < 2 || a < 0 || b >= slots || a > b {
		return 0, 0, "", errPacked
	}
	host, _ := node[0].ToString()
	port, _ := node[1].AsInt64()
	return uint16(a), uint16(b), host + ":" + strconv.FormatInt(port, 10), nil
}

// tag returns a short text whose slot is the given one.
func (s *shards) tag(slot uint16) string {
	for n := len(s.tags); s.tags[slot] == ""; n++ {
		t := "generation-" + strconv.Itoa(n)
		if at := slotOf(t); s.tags[at] == "" {
			s.tags[at] = t
		}
	}
	return s.tags[slot]
}

// slotOf is the slot of a key: CRC-16/XMODEM of its hash tag, as the Redis Cluster
// specification has it.
func slotOf(key string) uint16 {
	if i := strings.IndexByte(key, '{'); i >= 0 {
		if j := strings.IndexByte(key[i+1:], '}'); j > 0 {
			key = key[i+1 : i+1+j]
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % slots
}
