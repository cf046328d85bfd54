package crowd_test

import (
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

// attack sends a million beats for pages that nobody asked for and a million
// sessions to one page, from one address, over 20 s, while meanwhile runs once a
// second.
func attack(c *crowd.Crowd, round string, meanwhile func()) {
	visitor := crowd.Visitor{Addr: netip.MustParseAddr("192.0.2.66")}
	const each, aSecond = 1_000_000, 100_000
	for i := range 2 * each {
		if i < each {
			c.Beat(round+"page"+strconv.Itoa(i), "s", visitor)
		} else {
			c.Beat("victim", round+strconv.Itoa(i), visitor)
		}
		if i%aSecond == 0 {
			time.Sleep(time.Second)
			meanwhile()
		}
	}
}

// A million random pages and a million sessions from one address fill the caps and
// no more, however often they come: known pages stay right all the while, and one
// window later there is room for everybody again, and the memory is back.
func TestAttackAtFullSize(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	synctest.Test(t, func(t *testing.T) {
		const maxPages, maxSessions = 50_000, 300_000
		c := start(t, func(o *crowd.Options) { o.MaxPages, o.MaxSessions = maxPages, maxSessions })
		regulars := func() {
			for i := range 100 {
				if !c.Beat("known"+strconv.Itoa(i%10), strconv.Itoa(i), crowd.Visitor{}) {
					t.Fatal("a regular was turned away")
				}
			}
			c.Beat("victim", "a regular", crowd.Visitor{})
			for i := range 10 {
				wantCount(t, c, "known"+strconv.Itoa(i), 10)
			}
		}
		regulars()
		calm := c.Stats()

		attack(c, "first", regulars)
		first := c.Stats()
		if first.Pages != maxPages || first.Sessions != maxSessions {
			t.Errorf("got %d pages and %d sessions, want both at their caps", first.Pages, first.Sessions)
		}
		attack(c, "second", regulars)
		if second := c.Stats(); second.Pages > maxPages || second.Sessions > maxSessions || second.WindowBytes > first.WindowBytes*5/4 {
			t.Errorf("another attack takes more: %+v, then %+v", first, second)
		}

		for range 35 { // the window and two reports
			time.Sleep(time.Second)
			regulars()
		}
		after := c.Stats()
		if after.Pages != calm.Pages || after.Sessions != calm.Sessions || after.WindowBytes > first.WindowBytes/4 {
			t.Errorf("after the window got %+v, before the attack %+v, in it %+v", after, calm, first)
		}
		if !beat(c, "new", "s") {
			t.Error("there is no room for a new page")
		}
		wantCount(t, c, "new", 1)
	})
}

// Where new sessions per address are limited, the same attack gets its allowance
// and nothing else.
func TestAttackOnALimitedAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	synctest.Test(t, func(t *testing.T) {
		const allowance = 100
		c := start(t, func(o *crowd.Options) {
			o.Filter = crowd.NewAddressFilter(allowance, time.Minute, time.Now)
		})
		attack(c, "", func() {})
		if got := c.Stats().Sessions; got > allowance {
			t.Errorf("%d sessions count, want at most %d", got, allowance)
		}
		if !c.Beat("p", "s", crowd.Visitor{Addr: netip.MustParseAddr("192.0.2.1")}) {
			t.Error("a neighbour was kept out")
		}
	})
}
