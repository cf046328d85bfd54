package main

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

// Settings is every setting of the server. Each field is a flag, an environment
// variable (HEADCOUNT_ and the flag's name in capitals) and a key of the YAML
// file (the flag's name with underscores); see [source] for who wins.
type Settings struct {
	Listeners `group:"Listeners"`
	Storage   `group:"Storage"`
	Streams   `group:"Streams"`
	Pages     `group:"Pages"`
	Secrets   `group:"Secrets"`
	Logs      `group:"Logs"`
}

// Listeners says who is served where.
type Listeners struct {
	Listen      string   `default:":8080" help:"Address of the public API."`
	AdminListen string   `default:"127.0.0.1:9090" help:"Address of metrics, profiles and administration."`
	AdminToken  string   `secret:"" placeholder:"TOKEN" help:"Bearer token of the admin listener; required off loopback."`
	CORSOrigins []string `name:"cors-origins" placeholder:"ORIGIN" help:"Origins whose pages may call the stream routes; none by default."`
	// TrustedProxies are believed about the address of a client.
	TrustedProxies       []network `placeholder:"NETWORK" help:"Networks of the proxies in front, such as 10.0.0.0/8; their X-Forwarded-For tells a client's address."`
	MaxReaders           int       `default:"50000" help:"Event streams open at once; further ones get 503."`
	MaxReadersPerAddress int       `default:"0" help:"Event streams open at once from one address; 0 is no limit, as behind an unlisted proxy all have the same."`
	Auth                 string    `default:"none" help:"Who checks that a caller may speak for an account. Only none exists: put a gateway that authenticates in front."`
	NodeName             string    `placeholder:"NAME" help:"Label of this node in its log lines and in headcount_build_info; none by default."`
}

// Storage says where state lives. The commands that work on plans share it.
type Storage struct {
	DataDir string `default:"headcount-data" placeholder:"DIR" help:"Directory of everything that outlives the process; made if missing (default: ${default})."`
	Plans   string `placeholder:"URL" help:"Database of plans, sqlite:PATH; plans.db in the data directory by default."`
}

// network is an address or a range of them.
type network struct{ netip.Prefix }

// UnmarshalText reads 10.0.0.0/8, or 10.0.0.1 for that address alone.
func (n *network) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil {
		n.Prefix = netip.PrefixFrom(addr, addr.BitLen())
		return nil
	}
	if err := n.Prefix.UnmarshalText(text); err != nil {
		return fmt.Errorf("%q is no network; write an address or a range such as 10.0.0.0/8", text)
	}
	return nil
}

func (l *Listeners) trustedProxies() []netip.Prefix {
	networks := make([]netip.Prefix, len(l.TrustedProxies))
	for i, n := range l.TrustedProxies {
		networks[i] = n.Prefix
	}
	return networks
}

// AfterApply fills in the default that depends on another setting.
func (s *Storage) AfterApply() error { //nolint:unparam // kong's hooks return an error
	if s.Plans == "" {
		s.Plans = "sqlite:" + filepath.Join(s.DataDir, "plans.db")
	}
	return nil
}

// Streams holds the rules of the stream gate.
type Streams struct {
	LeaseTTL          time.Duration       `name:"lease-ttl" default:"90s" help:"A stream that stays silent this long frees its slot."`
	HeartbeatInterval time.Duration       `default:"30s" help:"How often players are told to beat."`
	DenyStatus        int                 `default:"409" help:"HTTP status of a play-start that finds no room."`
	Catalogue         headcount.Catalogue `default:"basic=1,standard=2,premium=4" mapsep:"," placeholder:"NAME=N" help:"Streams that each plan allows at once (default: ${default})."`
	DefaultPlan       string              `default:"standard" placeholder:"NAME" help:"Plan of accounts without a row (default: ${default})."`
	PlanTimeout       time.Duration       `default:"50ms" help:"Longest wait for the database of plans before the last value known serves."`
}

// Pages holds the rules of counting viewers.
type Pages struct {
	PresenceWindow            time.Duration `default:"30s" help:"A viewer who stays silent this long is gone."`
	PresenceHeartbeatInterval time.Duration `default:"10s" help:"How often browsers beat; the window must hold two."`
	PresenceReportInterval    time.Duration `default:"2s" help:"How often counts are brought up to date."`
	ExactThreshold            int           `default:"1000" help:"Viewers of a page that nodes tell each other one by one; above, a sketch takes part."`
	CountStaleAfter           time.Duration `default:"10s" help:"A count older than this is not told any more."`
	CountMaxAge               time.Duration `default:"3s" help:"How long browsers and proxies may keep a count."`
	PresenceOrigins           []string      `placeholder:"ORIGIN" help:"Origins whose pages may call the page routes; all by default."`
	Partitions                int           `default:"64" help:"Parts that pages are divided into; the same on all nodes."`
	MaxPages                  int           `default:"4000000" help:"Pages with viewers; viewers of further ones do not count."`
	MaxSessions               int           `default:"20000000" help:"Viewers; further ones do not count."`
	NewSessionsPerAddress     int           `default:"0" help:"New sessions that count from one address within a window; 0 is no limit, as behind an unlisted proxy all have the same."`
	BotAgents                 []string      `placeholder:"WORD" help:"Words in a User-Agent whose sessions do not count: by default those of the usual crawlers; none counts everybody."`
}

// filter returns who may count.
func (p *Pages) filter() crowd.Filter {
	var filters crowd.Filters
	switch {
	case len(p.BotAgents) == 0:
		filters = append(filters, crowd.NewAgentFilter(crowd.CrawlerAgents()))
	case !slices.Equal(p.BotAgents, []string{"none"}):
		filters = append(filters, crowd.NewAgentFilter(p.BotAgents))
	}
	if p.NewSessionsPerAddress > 0 {
		filters = append(filters, crowd.NewAddressFilter(p.NewSessionsPerAddress, p.PresenceWindow, time.Now))
	}
	return filters
}

// Secrets are printed nowhere. On a command line every process of the machine
// can read them, so the environment or the file is the better place.
type Secrets struct {
	Secret  []string `secret:"" placeholder:"SECRET" help:"Secrets that sign stream ids, 32 bytes or more each: the first signs, all verify. One is made in the data directory by default."`
	HashKey string   `secret:"" placeholder:"KEY" help:"Key of the hashes of accounts, devices and sessions; derived from the last secret by default."`
}

// Logs says what is written to standard error.
type Logs struct {
	LogFormat string `enum:"auto,text,json" default:"auto" help:"Log lines as text or json; auto is text at a terminal (${enum})."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" help:"Least level that is logged (${enum})."`
	AccessLog bool   `help:"Log one line per request."`
}
