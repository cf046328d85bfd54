package crowd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Options that contradict each other are refused with a sentence that names them.
func TestNewRefusesContradictions(t *testing.T) {
	for want, change := range map[string]func(*crowd.Options){
		"store":           func(o *crowd.Options) { o.Store = nil },
		"hasher":          func(o *crowd.Options) { o.Hasher = nil },
		"report interval": func(o *crowd.Options) { o.ReportInterval = time.Millisecond },
		"window":          func(o *crowd.Options) { o.Window = 3 * time.Second },
		"at most 24h":     func(o *crowd.Options) { o.Window = 25 * time.Hour },
		"stale":           func(o *crowd.Options) { o.StaleAfter = time.Second },
		"store timeout":   func(o *crowd.Options) { o.StoreTimeout = -1 },
		"partitions":      func(o *crowd.Options) { o.Partitions = 4097 },
		"threshold":       func(o *crowd.Options) { o.ExactThreshold = -1 },
		"caps":            func(o *crowd.Options) { o.MaxPages = -1 },
		"randomness":      func(o *crowd.Options) { o.Rand = strings.NewReader("short") },
		"duplicate": func(o *crowd.Options) {
			o.Registerer = prometheus.NewRegistry()
			if _, err := crowd.New(*o); err != nil {
				t.Errorf("the first on a registry: %v", err)
			}
		},
	} {
		opts := crowd.Options{Store: sharedCounts(), Hasher: headcount.NewHasher([]byte("key"))}
		change(&opts)
		if _, err := crowd.New(opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// Every beat shows in the metrics as what became of it.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	c, err := crowd.New(crowd.Options{
		Store: sharedCounts(), Hasher: headcount.NewHasher([]byte("key")),
		MaxPages: 2, MaxSessions: 3, Registerer: registry,
		Filter: crowd.NewAgentFilter([]string{"robot"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	beat(c, "p", "a")
	beat(c, "p", "a")
	beat(c, "q", "a")
	beat(c, "r", "a") // one page too many
	beat(c, "q", "b")
	beat(c, "q", "c") // one session too many
	c.Beat("q", "d", crowd.Visitor{UserAgent: "Robot"})
	c.Leave("q", "stranger")
	want := `
# HELP headcount_presence_beats_total Heartbeats by what became of them: renewed and added count, the others were dropped for the reason they are named after.
# TYPE headcount_presence_beats_total counter
headcount_presence_beats_total{outcome="added"} 3
headcount_presence_beats_total{outcome="filtered"} 1
headcount_presence_beats_total{outcome="max_pages"} 1
headcount_presence_beats_total{outcome="max_sessions"} 1
headcount_presence_beats_total{outcome="renewed"} 1
# HELP headcount_presence_leaves_total Leaves that were heard.
# TYPE headcount_presence_leaves_total counter
headcount_presence_leaves_total 1
# HELP headcount_presence_pages Pages that have viewers on this node.
# TYPE headcount_presence_pages gauge
headcount_presence_pages 2
# HELP headcount_presence_sessions Viewers this node hears.
# TYPE headcount_presence_sessions gauge
headcount_presence_sessions 3
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want),
		"headcount_presence_beats_total", "headcount_presence_leaves_total",
		"headcount_presence_pages", "headcount_presence_sessions"); err != nil {
		t.Error(err)
	}
}
