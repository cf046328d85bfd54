package main

import (
	"context"
	"crypto/rand"
	"runtime"
	"time"

	"github.com/alecthomas/kong"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
	"github.com/headcount-live/headcount/gate"
	"github.com/headcount-live/headcount/httpapi"
	"github.com/headcount-live/headcount/memory"
	"github.com/headcount-live/headcount/sqldb"
)

// ServeCmd runs the server.
type ServeCmd struct {
	Settings `embed:""`
}

// Run wires the server from the settings and serves until ctx ends, then drains.
// What can fail comes first: the state that an earlier process left is taken up
// last, so that a start that fails does not lose it.
func (c *ServeCmd) Run(ctx context.Context, kctx *kong.Context, env *Env) error {
	if err := c.Check(); err != nil {
		return err
	}
	log, err := newLogger(c.Logs, env.Stderr)
	if err != nil {
		return err
	}
	if c.NodeName != "" {
		log = log.With("node", c.NodeName)
	}
	registry := newRegistry(readBuild(), c.NodeName)

	// The places that only one server can have.
	dir, err := openDataDir(c.DataDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	public, err := listen(ctx, "--listen", c.Listen)
	if err != nil {
		return err
	}
	defer public.Close()
	admin, err := listen(ctx, "--admin-listen", c.AdminListen)
	if err != nil {
		return err
	}
	defer admin.Close()

	// Keys.
	secrets, err := loadSecrets(c.Secrets, dir, rand.Reader)
	if err != nil {
		return err
	}
	signer, err := headcount.NewSigner(secrets, rand.Reader)
	if err != nil {
		return err
	}
	hasher := headcount.NewHasher(hashKey(c.HashKey, secrets))

	// Plans.
	rows, err := sqldb.Open(ctx, c.Plans, sqldb.Options{Logger: log})
	if err != nil {
		return err
	}
	defer rows.Close()
	plans, err := gate.NewPlans(gate.PlansConfig{
		Store:       rows,
		Catalogue:   c.Catalogue,
		DefaultPlan: c.DefaultPlan,
		Timeout:     c.PlanTimeout,
		Logger:      log,
		Registerer:  registry,
	})
	if err != nil {
		return err
	}

	// Streams.
	leases, err := memory.NewLeases(memory.LeaseOptions{TTL: c.LeaseTTL, Rand: rand.Reader})
	if err != nil {
		return err
	}
	defer leases.Close()
	registry.MustRegister(newLeaseMetrics(leases))
	streams := gate.New(gate.Config{
		Leases:            leases,
		Plans:             plans,
		Signer:            signer,
		Hasher:            hasher,
		TTL:               c.LeaseTTL,
		HeartbeatInterval: c.HeartbeatInterval,
		Logger:            log,
		Registerer:        registry,
	})

	// Pages.
	viewers, err := crowd.New(crowd.Options{
		Store:          memory.NewCounts(crowd.Freshness(c.PresenceReportInterval), time.Now),
		Hasher:         hasher,
		Window:         c.PresenceWindow,
		ReportInterval: c.PresenceReportInterval,
		StaleAfter:     c.CountStaleAfter,
		ExactThreshold: c.ExactThreshold,
		Partitions:     c.Partitions,
		MaxPages:       c.MaxPages,
		MaxSessions:    c.MaxSessions,
		Filter:         c.filter(),
		Rand:           rand.Reader,
		Logger:         log,
		Registerer:     registry,
	})
	if err != nil {
		return err
	}

	// The skin.
	settings, err := settingsJSON(kctx)
	if err != nil {
		return err
	}
	api := httpapi.New(httpapi.Config{
		Gate:                 streams,
		Plans:                plans,
		Crowd:                viewers,
		Logger:               log,
		Registerer:           registry,
		Gatherer:             registry,
		DenyStatus:           c.DenyStatus,
		CORSOrigins:          c.CORSOrigins,
		PresenceOrigins:      c.PresenceOrigins,
		CountMaxAge:          c.CountMaxAge,
		LimitsAddresses:      c.NewSessionsPerAddress > 0,
		TrustedProxies:       c.trustedProxies(),
		AdminToken:           c.AdminToken,
		Settings:             settings,
		AccessLog:            c.AccessLog,
		MaxReaders:           c.MaxReaders,
		MaxReadersPerAddress: c.MaxReadersPerAddress,
	})

	// What an earlier process left.
	files := liveFiles{
		{path: dir.file("leases.snapshot"), kind: stateKind("leases", hasher), state: leases},
		{path: dir.file("viewers.snapshot"), kind: stateKind("viewers", hasher), state: viewers},
	}
	if err := files.restore(log); err != nil {
		return err
	}

	s := &server{
		log: log, api: api, files: files,
		public: serving{api.PublicServer(), public},
		admin:  serving{api.AdminServer(), admin},
		work: []func(context.Context) error{
			func(ctx context.Context) error { plans.Run(ctx); return nil },
			viewers.Run,
		},
	}
	log.Info("started", "listen", public.Addr().String(), "admin", admin.Addr().String(), "data_dir", c.DataDir, "version", readBuild().Version)
	if isTerminal(env.Stdout) {
		greet(env.Stdout, public.Addr().String(), admin.Addr().String(), c.DataDir)
	}
	defer runtime.KeepAlive(newBallast())
	return s.run(ctx)
}
