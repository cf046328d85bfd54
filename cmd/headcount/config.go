package main

import (
	"path/filepath"
	"time"

	"github.com/headcount-live/headcount"
)

// Settings is every setting of the server. Each field is a flag, an environment
// variable (HEADCOUNT_ and the flag's name in capitals) and a key of the YAML
// file (the flag's name with underscores); see [source] for who wins.
type Settings struct {
	Listeners `group:"Listeners"`
	Storage   `group:"Storage"`
	Streams   `group:"Streams"`
	Secrets   `group:"Secrets"`
	Logs      `group:"Logs"`
}

// Listeners says who is served where.
type Listeners struct {
	Listen      string   `default:":8080" help:"Address of the public API."`
	AdminListen string   `default:"127.0.0.1:9090" help:"Address of metrics, profiles and administration."`
	AdminToken  string   `secret:"" placeholder:"TOKEN" help:"Bearer token of the admin listener; required off loopback."`
	CORSOrigins []string `name:"cors-origins" placeholder:"ORIGIN" help:"Origins whose pages may call the stream routes; none by default."`
	Auth        string   `default:"none" help:"Who checks that a caller may speak for an account. Only none exists: put a gateway that authenticates in front."`
	NodeName    string   `placeholder:"NAME" help:"Label of this node in logs and metrics; the host's name by default."`
}

// Storage says where state lives. The commands that work on plans share it.
type Storage struct {
	DataDir string `default:"headcount-data" placeholder:"DIR" help:"Directory of everything that outlives the process; made if missing (default: ${default})."`
	Plans   string `placeholder:"URL" help:"Database of plans, sqlite:PATH; plans.db in the data directory by default."`
}

// PlansURL returns the database of plans with its default filled in.
func (s Storage) PlansURL() string {
	if s.Plans != "" {
		return s.Plans
	}
	return "sqlite:" + filepath.Join(s.DataDir, "plans.db")
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
