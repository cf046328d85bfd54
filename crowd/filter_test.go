package crowd_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

func from(addr string) crowd.Visitor { return crowd.Visitor{Addr: netip.MustParseAddr(addr)} }

// A filter keeps new sessions out, on every page anew, and leaves those alone
// that count already.
func TestFilterIsAskedAboutNewSessionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := &countingFilter{allow: true}
		c := start(t, func(o *crowd.Options) { o.Filter = guard })
		for range 5 {
			if !beat(c, "p", "s") {
				t.Fatal("the session was kept out")
			}
		}
		beat(c, "q", "s")
		if guard.asked != 2 {
			t.Errorf("the filter was asked %d times about one session on two pages", guard.asked)
		}
		guard.allow = false
		if !beat(c, "p", "s") {
			t.Error("a session that counts already was kept out")
		}
		if beat(c, "p", "t") {
			t.Error("a new session was let in")
		}
		wantCount(t, c, "p", 1)
	})
}

type countingFilter struct {
	allow bool
	asked int
}

func (f *countingFilter) Allow(crowd.Visitor) bool {
	f.asked++
	return f.allow
}

// An address may bring so many new sessions a window; IPv6 counts by /64; others
// are not touched; and after the window it may bring as many again.
func TestAddressFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := crowd.NewAddressFilter(3, time.Minute, time.Now)
		for _, step := range []struct {
			addr string
			want bool
		}{
			{"192.0.2.1", true}, {"192.0.2.1", true}, {"::ffff:192.0.2.1", true}, // the same
			{"192.0.2.1", false},
			{"192.0.2.2", true},
			{"2001:db8:1:2::1", true}, {"2001:db8:1:2::2", true}, {"2001:db8:1:2:ffff::3", true},
			{"2001:db8:1:2::4", false},
			{"2001:db8:1:3::4", true},
		} {
			if got := f.Allow(from(step.addr)); got != step.want {
				t.Errorf("%s: got %v, want %v", step.addr, got, step.want)
			}
		}
		for range 10 {
			if !f.Allow(crowd.Visitor{}) {
				t.Error("a visitor without an address was limited")
			}
		}
		time.Sleep(59 * time.Second)
		if f.Allow(from("192.0.2.1")) {
			t.Error("the address was let in before its window was over")
		}
		time.Sleep(time.Second)
		if !f.Allow(from("192.0.2.1")) {
			t.Error("the address was not let in after the window")
		}
	})
}

// A flood of addresses does not make an address forgotten that used its allowance
// up, and takes no memory.
func TestAddressFilterUnderAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := crowd.NewAddressFilter(5, time.Minute, time.Now)
		for range 5 {
			f.Allow(from("192.0.2.1"))
		}
		addr := netip.MustParseAddr("10.0.0.0")
		if n := testing.AllocsPerRun(500_000, func() {
			f.Allow(crowd.Visitor{Addr: addr})
			addr = addr.Next()
		}); n != 0 {
			t.Errorf("an address costs %v allocations", n)
		}
		if f.Allow(from("192.0.2.1")) {
			t.Error("the flood won the address a new allowance")
		}
	})
}

// The shipped list knows crawlers when it sees them, and no people.
func TestCrawlerAgents(t *testing.T) {
	f := crowd.NewAgentFilter(crowd.CrawlerAgents())
	for agent, people := range map[string]bool{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                                                                                           false,
		"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1)": false,
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)":                                                                                            false,
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)":                                                                                                   false,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)":                                                             false,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 Safari/537.36":                                                      false,
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)":                                                                                          false,
		"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)":                                                                                false,
		"Mozilla/5.0 (compatible; Applebot/0.1)":                                                                                                                             false,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36":                                                    true,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1":                            true,
		"Mozilla/5.0 (Linux; Android 11; CUBOT P50) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36":                                            true,
		"Mozilla/5.0 (Linux; Android 10; CUBOT_X30 Build/QP1A) AppleWebKit/537.36":                                                                                           true,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0":                                                                               true,
		"curl/8.5.0":         true,
		"Python-urllib/3.13": true,
		"":                   true,
	} {
		if got := f.Allow(crowd.Visitor{UserAgent: agent}); got != people {
			t.Errorf("%q: got %v, want %v", agent, got, people)
		}
	}
}

// Filters let in whom all of them let in.
func TestFilters(t *testing.T) {
	yes, no := &countingFilter{allow: true}, &countingFilter{}
	for _, tc := range []struct {
		filters crowd.Filters
		want    bool
	}{
		{nil, true},
		{crowd.Filters{yes, yes}, true},
		{crowd.Filters{yes, no}, false},
		{crowd.Filters{no, yes}, false},
	} {
		if got := tc.filters.Allow(crowd.Visitor{}); got != tc.want {
			t.Errorf("%d filters: got %v, want %v", len(tc.filters), got, tc.want)
		}
	}
}
