package httpapi

import (
	"cmp"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount/crowd"
	"github.com/headcount-live/headcount/gate"
)

// Config is what a Server is made of. Gate, Plans, Crowd and Logger are required.
type Config struct {
	Gate       *gate.Gate
	Plans      *gate.Plans
	Crowd      *crowd.Crowd
	Logger     *slog.Logger
	Registerer prometheus.Registerer // of the server's own metrics; nil: they are kept nowhere
	Gatherer   prometheus.Gatherer   // what /metrics shows; nil: nothing

	DenyStatus      int            // of a play-start that finds no room; 0: 409
	CORSOrigins     []string       // origins whose pages may call stream routes; "*": all; empty: none
	PresenceOrigins []string       // origins whose pages may call page routes; empty: all
	CountMaxAge     time.Duration  // how long a count may be cached; 0: 3 s
	LimitsAddresses bool           // a filter of the crowd looks at addresses
	TrustedProxies  []netip.Prefix // whose X-Forwarded-For is believed
	AdminToken      string         // demanded by every admin route; empty: none is
	Settings        []byte         // JSON of the effective settings, secrets masked, for /admin/v1/settings
	AccessLog       bool           // one line per request

	// MaxReaders caps the event streams open at once; 0: 50,000, about 1.5 GB.
	MaxReaders int
	// MaxReadersPerAddress caps those of one address; 0: no cap, because behind a
	// proxy that is not trusted every viewer has the same one.
	MaxReadersPerAddress int

	Jitter func(n int64) int64 // random in [0,n), to spread reconnects; nil: math/rand
}

// Server answers HTTP for a gate. Its two handlers belong on two listeners: what
// Admin serves must not be public.
type Server struct {
	gate                   *gate.Gate
	plans                  *gate.Plans
	crowd                  *crowd.Crowd
	config                 Config
	terms                  []byte // the members that tell a player when to beat
	beatOK                 []byte // the answer to almost every heartbeat
	metrics                *metrics
	faults                 *faultLog
	readers                *readers
	batches                *sync.Pool
	presences              *sync.Pool
	maxAge, maxAgeDegraded []string   // Cache-Control of counts
	etags                  [][]string // of small counts, by count
	public, admin          *mux
}

// faultPeriod is how often one cause of trouble may be logged.
const faultPeriod = time.Minute

// New returns a Server. It starts nothing, and panics if the registerer has the
// server's metrics already.
func New(c Config) *Server {
	c.DenyStatus = cmp.Or(c.DenyStatus, http.StatusConflict)
	c.MaxReaders = cmp.Or(c.MaxReaders, 50_000)
	if c.Jitter == nil {
		c.Jitter = rand.Int64N
	}
	c.CountMaxAge = cmp.Or(c.CountMaxAge, 3*time.Second)
	s := &Server{
		gate: c.Gate, plans: c.Plans, crowd: c.Crowd, config: c, metrics: newMetrics(c.Registerer),
		batches: newBeatBatches(), presences: newPresenceBatches(), etags: newETags(),
		maxAge: publicFor(c.CountMaxAge), maxAgeDegraded: publicFor(min(c.CountMaxAge, time.Second)),
	}
	s.faults = newFaultLog(c.Logger, faultPeriod, s.metrics.panics)
	s.readers = newReaders(c.MaxReaders, c.MaxReadersPerAddress, func(least, most time.Duration) time.Duration {
		return least + time.Duration(c.Jitter(int64(most-least)))
	})
	s.terms = appendTerms(nil, c.Gate.Terms())
	s.beatOK = append(append([]byte(`{"ok":true,`), s.terms...), '}')

	var access *slog.Logger
	if c.AccessLog {
		access = c.Logger
	}
	s.public = newMux(s.publicRoutes(), s.metrics, s.faults, access, c.DenyStatus)
	s.admin = newMux(s.adminRoutes(), s.metrics, s.faults, access, c.DenyStatus)
	return s
}

func publicFor(d time.Duration) []string {
	return []string{fmt.Sprintf("public, max-age=%d", int(d.Seconds()))}
}

// Public returns the handler of the API that players and pages call.
func (s *Server) Public() http.Handler { return s.public }

// Admin returns the handler of metrics, profiles and administration.
func (s *Server) Admin() http.Handler { return s.admin }

// BeginDrain makes /readyz answer 503 and tells every event reader when to
// reconnect, spread over 5 to 30 s, before it closes its stream. Requests go on
// being answered; end them with [http.Server.Shutdown].
func (s *Server) BeginDrain() { s.readers.beginDrain() }

// Limits of a connection. An idle one outlives two heartbeats of a player, so
// that a connection is not set up for each. Headers may take as long as the whole
// request: net/http sets one deadline for both then, and setting one costs a
// hundredth of a heartbeat.
const (
	headerTimeout  = readTimeout
	readTimeout    = 10 * time.Second
	writeTimeout   = 15 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 128 << 10 // a batch read names 100 pages of 256 bytes, percent-encoded
)

// PublicServer returns an [http.Server] that serves Public with timeouts and
// limits that stop slow and endless clients. Event streams outlive its write
// timeout.
func (s *Server) PublicServer() *http.Server { return s.server(s.public) }

// AdminServer returns an [http.Server] that serves Admin as PublicServer does Public.
func (s *Server) AdminServer() *http.Server { return s.server(s.admin) }

func (s *Server) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       max(idleTimeout, 3*s.gate.Terms().HeartbeatInterval),
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(s.faults, "", 0),
	}
}
