package redis

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/headcount-live/headcount"
)

// The sizes of script/prelude.lua.
const (
	momentLen = 6
	headLen   = 14
	leaseLen  = 50
	tombLen   = 31
)

var errPacked = errors.New("redis: an account's value is not in the layout of this version")

// packed is an account's value together with the store's clock when it was read.
type packed struct {
	now           int64
	leases, tombs []byte
	texts         []byte
	nl, nt        int
}

// unpack reads what a script returned: the moment now and the value. It trusts no
// length, since a foreign client may have written the key.
func unpack(raw string) (packed, error) {
	b := []byte(raw)
	if len(b) < momentLen {
		return packed{}, errPacked
	}
	p := packed{now: moment(b)}
	if b = b[momentLen:]; len(b) == 0 {
		return p, nil
	}
	if len(b) < headLen {
		return packed{}, errPacked
	}
	p.nl, p.nt = int(b[0]), int(b[1])
	b = b[headLen:]
	if len(b) < p.nl*leaseLen+p.nt*tombLen {
		return packed{}, errPacked
	}
	p.leases, b = b[:p.nl*leaseLen], b[p.nl*leaseLen:]
	p.tombs, p.texts = b[:p.nt*tombLen], b[p.nt*tombLen:]
	want := 0
	for i := range p.nl {
		m, pr, t := textLens(p.lease(i))
		want += m + pr + t
	}
	for i := range p.nt {
		want += int(binary.BigEndian.Uint16(p.tomb(i)[29:]))
	}
	if len(p.texts) != want {
		return packed{}, errPacked
	}
	return p, nil
}

func (p packed) lease(i int) []byte { return p.leases[i*leaseLen:][:leaseLen] }
func (p packed) tomb(i int) []byte  { return p.tombs[i*tombLen:][:tombLen] }

func moment(b []byte) int64 {
	return int64(binary.BigEndian.Uint16(b))<<32 | int64(binary.BigEndian.Uint32(b[2:]))
}

func textLens(lease []byte) (meta, profile, title int) {
	return int(binary.BigEndian.Uint16(lease[46:])), int(lease[48]), int(lease[49])
}

// live returns the leases that have not expired, oldest first.
func (p packed) live() []headcount.Lease {
	out := make([]headcount.Lease, 0, p.nl)
	texts := p.texts
	for i := range p.nl {
		f := p.lease(i)
		m, pr, t := textLens(f)
		meta, profile, title := texts[:m], texts[m:m+pr], texts[m+pr:m+pr+t]
		texts = texts[m+pr+t:]
		left := moment(f[40:]) - p.now
		if left <= 0 {
			continue
		}
		l := headcount.Lease{
			ID:          headcount.LeaseID(f[:16]),
			StartedAt:   headcount.Timestamp(moment(f[28:])),
			LastSeen:    headcount.Timestamp(moment(f[34:])),
			LapsesInSec: int((left + 999) / 1000),
			ProfileID:   given(profile),
			TitleID:     given(title),
		}
		if m > 0 {
			l.DeviceMeta = json.RawMessage(meta)
		}
		out = append(out, l)
	}
	return out
}

func given(text []byte) *string {
	if len(text) == 0 {
		return nil
	}
	s := string(text)
	return &s
}

// expires returns how many milliseconds a lease has left; 0 if it is not live.
func (p packed) expires(id headcount.LeaseID) int64 {
	for i := range p.nl {
		if f := p.lease(i); headcount.LeaseID(f[:16]) == id {
			return max(0, moment(f[40:])-p.now)
		}
	}
	return 0
}

// ended returns the live tombstone of a lease.
func (p packed) ended(id headcount.LeaseID) (headcount.Ended, bool) {
	at := 0
	for i := range p.nl {
		m, pr, t := textLens(p.lease(i))
		at += m + pr + t
	}
	for i := range p.nt {
		f := p.tomb(i)
		n := int(binary.BigEndian.Uint16(f[29:]))
		by := p.texts[at : at+n]
		at += n
		if headcount.LeaseID(f[:16]) != id || moment(f[23:]) <= p.now {
			continue
		}
		return ended(f[16], moment(f[17:]), by), true
	}
	return headcount.Ended{}, false
}

func ended(reason byte, at int64, by []byte) headcount.Ended {
	e := headcount.Ended{Reason: headcount.Reason(reason), StoppedAt: headcount.Timestamp(at)}
	if len(by) > 0 {
		e.By = json.RawMessage(by)
	}
	return e
}
