package load

import (
	"math"
	"unsafe"

	"github.com/headcount-live/headcount/crowd"
)

// people spreads sessions over pages as shops see it: 1,000 pages hold 40 % of
// the viewers, and most of the others hold a few.
type people struct {
	pages, sessions uint64
}

const hottest = 1000

// page returns the page that a session is on.
func (w people) page(session uint64) uint64 {
	hot := min(hottest, w.pages/2)
	r := mix(session)
	if session%5 < 2 {
		return r % hot
	}
	// The square of a uniform number is dense near zero, so these pages are unequal
	// too; the last ones have half the mean.
	u := float64(r>>11) / (1 << 53)
	return hot + uint64(math.Min(u*u*float64(w.pages-hot), float64(w.pages-hot-1)))
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draw is a stream of random numbers that is cheaper than what it drives.
type draw struct{ state uint64 }

func newDraw(worker int) *draw { return &draw{mix(uint64(worker) + 1)} }

func (d *draw) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	return mix(d.state)
}

const beatsPerBatch = 256

// person writes ids of 24 and 20 bytes into memory of its own, so that deriving
// them costs neither allocation nor storage.
type person struct {
	pageIDs    [beatsPerBatch][24]byte
	sessionIDs [beatsPerBatch][20]byte
	beats      [beatsPerBatch]crowd.Beat
}

func newPerson() *person {
	p := &person{}
	for i := range p.beats {
		copy(p.pageIDs[i][:], "product/")
		copy(p.sessionIDs[i][:], "sess")
		p.beats[i] = crowd.Beat{
			Page:    unsafe.String(&p.pageIDs[i][0], len(p.pageIDs[i])),
			Session: unsafe.String(&p.sessionIDs[i][0], len(p.sessionIDs[i])),
		}
	}
	return p
}

// ids returns the ids of a session and its page, until the next call.
func (p *person) ids(world people, session uint64) (pageID, sessionID string) {
	p.write(0, world, session)
	return p.beats[0].Page, p.beats[0].Session
}

// batch returns beats of sessions drawn at random, until the next call.
func (p *person) batch(world people, d *draw) []crowd.Beat {
	for i := range p.beats {
		p.write(i, world, d.next()%world.sessions)
	}
	return p.beats[:]
}

func (p *person) write(i int, world people, session uint64) {
	hex(p.pageIDs[i][8:], world.page(session))
	hex(p.sessionIDs[i][4:], session)
}

// hex writes the last 16 digits of a number.
func hex(b []byte, n uint64) {
	const digits = "0123456789abcdef"
	for i := 15; i >= 0; i-- {
		b[i] = digits[n&15]
		n >>= 4
	}
}
