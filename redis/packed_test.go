package redis

import (
	"testing"

	"github.com/headcount-live/headcount"
)

// The slots are those of the Redis Cluster specification.
func TestSlotOf(t *testing.T) {
	for key, want := range map[string]uint16{
		"123456789":          12739,
		"foo":                12182,
		"{user1000}.one":     slotOf("user1000"),
		"foo{}{bar}":         8363,
		"foo{{bar}}zap":      slotOf("{bar"),
		"foo{bar}{zap}":      slotOf("bar"),
		"hc1:{generation}":   slotOf("generation"),
		"":                   0,
		"{":                  slotOf("{"),
		"hc1:{AQAAAAAAAAAAA": slotOf("hc1:{AQAAAAAAAAAAA"),
	} {
		if got := slotOf(key); got != want {
			t.Errorf("%q: got slot %d, want %d", key, got, want)
		}
	}
}

// A tag leads to the slot that it was made for.
func TestTagOfASlot(t *testing.T) {
	s := &shards{tags: map[uint16]string{}}
	for _, slot := range []uint16{0, 1, 5461, 10923, slots - 1} {
		if got := slotOf("hc1:{" + s.tag(slot) + "}"); got != slot {
			t.Errorf("the tag for slot %d leads to slot %d", slot, got)
		}
	}
}

// Whatever stands in a key, reading it ends in an answer or an error.
func FuzzUnpack(f *testing.F) {
	f.Add("")
	f.Add("\x00\x00\x01\x9a\xd6\x00")
	f.Add("\x00\x00\x01\x9a\xd6\x00\x01\x00" + string(make([]byte, 12+leaseLen)))
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := unpack(raw)
		if err != nil {
			return
		}
		p.live()
		p.expires(headcount.LeaseID{})
		p.ended(headcount.LeaseID{})
	})
}
