package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
	"github.com/headcount-live/headcount/gate"
	"github.com/headcount-live/headcount/memory"
)

const (
	ttl      = 90 * time.Second
	interval = 30 * time.Second
)

// world is a whole server on two listeners, over the stores in memory. Every
// answer that its client gets is held to the OpenAPI document.
type world struct {
	t             testing.TB
	srv           *Server
	public, admin *httptest.Server
	client        *http.Client // of the public listener
	operator      *http.Client // of the admin listener
	log           *bytes.Buffer
}

// newWorld starts a server. A change, if given, is made to its configuration first.
func newWorld(tb testing.TB, change ...func(*Config)) *world {
	tb.Helper()
	w := &world{t: tb, log: new(bytes.Buffer)}
	w.srv = newServer(tb, w.log, change...)
	w.public, w.admin = listen(tb, w.srv.PublicServer()), listen(tb, w.srv.AdminServer())
	doc := loadDocument(tb)
	w.client = &http.Client{Transport: &checked{t: tb, doc: doc, table: w.srv.publicRoutes()}}
	w.operator = &http.Client{Transport: &checked{t: tb, doc: doc, table: w.srv.adminRoutes()}}
	return w
}

func listen(tb testing.TB, s *http.Server) *httptest.Server {
	tb.Helper()
	ts := httptest.NewUnstartedServer(nil)
	ts.Config = s
	ts.Start()
	tb.Cleanup(ts.Close)
	return ts
}

// newServer returns a server over stores in memory, with the default catalogue.
func newServer(tb testing.TB, log io.Writer, change ...func(*Config)) *Server {
	tb.Helper()
	registry := prometheus.NewRegistry()
	logger := slog.New(slog.NewTextHandler(log, nil))
	plans, err := gate.NewPlans(gate.PlansConfig{
		Store:       memory.NewPlans(time.Now),
		Catalogue:   headcount.DefaultCatalogue(),
		DefaultPlan: "standard",
		Logger:      logger,
		Registerer:  registry,
	})
	if err != nil {
		tb.Fatal(err)
	}
	secret := []byte("a secret of at least thirty-two bytes")
	signer, err := headcount.NewSigner([][]byte{secret}, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	c := Config{
		Gate: gate.New(gate.Config{
			Leases: newLeases(tb, ttl), Plans: plans, Signer: signer, Hasher: headcount.NewHasher(secret),
			TTL: ttl, HeartbeatInterval: interval, Logger: logger, Registerer: registry,
		}),
		Plans: plans, Crowd: newCrowd(tb, logger), Logger: logger, Registerer: registry, Gatherer: registry,
	}
	for _, f := range change {
		f(&c)
	}
	return New(c)
}

// newLeases returns the engine in memory.
func newLeases(tb testing.TB, ttl time.Duration) *memory.Leases {
	tb.Helper()
	leases, err := memory.NewLeases(memory.LeaseOptions{TTL: ttl, Rand: rand.Reader})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(leases.Close)
	return leases
}

// newCrowd returns a crowd of one node that reports every 20 ms until the test ends.
func newCrowd(tb testing.TB, logger *slog.Logger, change ...func(*crowd.Options)) *crowd.Crowd {
	tb.Helper()
	c := idleCrowd(tb, logger, change...)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = c.Run(ctx) })
	tb.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return c
}

// idleCrowd returns a crowd that nobody runs. It knows no count that can be told.
func idleCrowd(tb testing.TB, logger *slog.Logger, change ...func(*crowd.Options)) *crowd.Crowd {
	tb.Helper()
	const report = 20 * time.Millisecond
	o := crowd.Options{
		Store:          memory.NewCounts(crowd.Freshness(report), time.Now),
		Hasher:         headcount.NewHasher([]byte("pages")),
		Window:         time.Minute,
		ReportInterval: report,
		Logger:         logger,
	}
	for _, f := range change {
		f(&o)
	}
	c, err := crowd.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// json decodes the answer's body.
func (r reply) json(tb testing.TB) map[string]any {
	tb.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.body), &m); err != nil {
		tb.Fatalf("%s is not a JSON object: %v", r.body, err)
	}
	return m
}

// code returns the error code of the answer, "" where there is none.
func (r reply) code() string {
	var e struct{ Error string }
	_ = json.Unmarshal([]byte(r.body), &e)
	return e.Error
}

// call sends a request to the public listener. header holds pairs.
func (w *world) call(method, path, body string, header ...string) reply {
	w.t.Helper()
	return do(w.t, w.client, method, w.public.URL+path, body, header...)
}

// ask sends a request to the admin listener.
func (w *world) ask(method, path, body string, header ...string) reply {
	w.t.Helper()
	return do(w.t, w.operator, method, w.admin.URL+path, body, header...)
}

func do(tb testing.TB, client *http.Client, method, url, body string, header ...string) reply {
	tb.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(got)}
}

// play starts a stream and returns its id.
func (w *world) play(account, device string) string {
	w.t.Helper()
	r := w.call("POST", "/v1/streams", fmt.Sprintf(`{"account_id":%q,"device_id":%q}`, account, device))
	if r.status != http.StatusOK {
		w.t.Fatalf("%s on %s: %d %s", device, account, r.status, r.body)
	}
	return r.json(w.t)["stream_id"].(string)
}

// beat renews a stream.
func (w *world) beat(account, stream string) reply {
	w.t.Helper()
	return w.call("PUT", "/v1/streams/"+stream+"/heartbeat", fmt.Sprintf(`{"account_id":%q}`, account))
}

// plan gives an account a plan of the catalogue.
func (w *world) plan(account, plan string) {
	w.t.Helper()
	if r := w.ask("PUT", "/admin/v1/accounts/"+account+"/plan", fmt.Sprintf(`{"plan":%q}`, plan)); r.status != http.StatusOK {
		w.t.Fatalf("%d %s", r.status, r.body)
	}
}
