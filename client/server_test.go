package client_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/client"
	"github.com/headcount-live/headcount/gate"
	"github.com/headcount-live/headcount/httpapi"
	"github.com/headcount-live/headcount/memory"
)

// serve runs a whole server and returns a client of each of its listeners. The
// options are the admin client's, which has the right token without any.
func serve(t *testing.T, options ...client.Option) (*client.Client, *client.Admin) {
	t.Helper()
	leases, err := memory.NewLeases(memory.LeaseOptions{TTL: 90 * time.Second, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leases.Close)
	plans, err := gate.NewPlans(gate.PlansConfig{
		Store: memory.NewPlans(time.Now), Catalogue: headcount.DefaultCatalogue(), DefaultPlan: "standard",
	})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := headcount.NewSigner([][]byte{[]byte("a secret of thirty-two bytes or more")}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	g := gate.New(gate.Config{
		Leases: leases, Plans: plans, Signer: signer, Hasher: headcount.NewHasher([]byte("a key")),
		TTL: 90 * time.Second, HeartbeatInterval: 30 * time.Second, Logger: log, Registerer: prometheus.NewRegistry(),
	})
	api := httpapi.New(httpapi.Config{Gate: g, Plans: plans, Logger: log, AdminToken: "open sesame"})
	public, admin := httptest.NewServer(api.Public()), httptest.NewServer(api.Admin())
	t.Cleanup(public.Close)
	t.Cleanup(admin.Close)
	c, err := client.New(public.URL)
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.NewAdmin(admin.URL, append([]client.Option{client.WithToken("open sesame")}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c, a
}

// An evening of one account, over the real API: play, beat, be denied, kick, be
// told, release, sign out everywhere.
func TestEvening(t *testing.T) {
	c, _ := serve(t)
	ctx := t.Context()
	press := func(device, replace string) (client.Play, error) {
		return c.Play(ctx, client.PlayRequest{
			AccountID: "a/b %", DeviceID: device, DeviceMeta: json.RawMessage(`{"name":"` + device + `"}`), ReplaceStreamID: replace,
		})
	}
	tv, err := press("tv", "")
	if err != nil || tv.LeaseTTL != 90*time.Second || tv.HeartbeatInterval != 30*time.Second || tv.Degraded {
		t.Fatalf("got %+v, %v", tv, err)
	}
	phone, err := press("phone", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = press("tablet", "")
	var denied *headcount.Error
	if !errors.As(err, &denied) || denied.Denied == nil || denied.Denied.Limit != 2 || len(denied.Denied.Active) != 2 {
		t.Fatalf("got %v, want a denial with both holders", err)
	}
	if got := denied.Denied.Active[0]; got.StreamID != tv.StreamID || string(got.DeviceMeta) != `{"name":"tv"}` || got.LapsesInSec != 90 {
		t.Errorf("the oldest holder is %+v, want the tv", got)
	}
	if _, err = press("tablet", tv.StreamID); err != nil {
		t.Fatal(err)
	}
	_, err = c.Heartbeat(ctx, tv.StreamID, client.HeartbeatRequest{AccountID: "a/b %"})
	var stopped *headcount.Error
	if !errors.As(err, &stopped) || stopped.Ended == nil || stopped.Ended.Reason != headcount.ReasonForceStopped {
		t.Errorf("got %v, want force_stopped", err)
	}
	if _, err := c.Heartbeat(ctx, phone.StreamID, client.HeartbeatRequest{AccountID: "a/b %", TitleID: "film"}); err != nil {
		t.Error(err)
	}
	listing, err := c.Streams(ctx, "a/b %")
	if err != nil || listing.Limit != 2 || len(listing.Active) != 2 || *listing.Active[0].TitleID != "film" {
		t.Errorf("got %+v, %v, want the phone with its film and the tablet", listing, err)
	}
	if err := c.Release(ctx, "a/b %", phone.StreamID); err != nil {
		t.Error(err)
	}
	if err := c.ForceStop(ctx, "a/b %", phone.StreamID); headcount.ErrorCode(err) != headcount.CodeStreamNotFound {
		t.Errorf("got %v, want stream_not_found", err)
	}
	if n, err := c.ForceStopAll(ctx, "a/b %"); n != 1 || err != nil {
		t.Errorf("stopped %d, %v, want 1", n, err)
	}
}

// The operator sets a plan, sees and ends what an account plays, and takes the
// plan back.
func TestOperator(t *testing.T) {
	c, a := serve(t)
	ctx := t.Context()
	if _, err := a.Plan(ctx, "alice"); headcount.ErrorCode(err) != headcount.CodeNotFound {
		t.Errorf("got %v, want not_found for an account without a row", err)
	}
	row, err := a.PutPlan(ctx, headcount.Plan{AccountID: "alice", Plan: "staff", MaxStreams: new(3)})
	if err != nil || row.Status != headcount.StatusActive || *row.MaxStreams != 3 {
		t.Fatalf("got %+v, %v", row, err)
	}
	if got, err := a.Plan(ctx, "alice"); err != nil || got.Plan != "staff" || got.UpdatedAt != row.UpdatedAt {
		t.Errorf("got %+v, %v, want what was put", got, err)
	}
	var last string
	for _, device := range []string{"tv", "phone", "tablet"} {
		play, err := c.Play(ctx, client.PlayRequest{AccountID: "alice", DeviceID: device})
		if err != nil {
			t.Fatal(err)
		}
		last = play.StreamID
	}
	if listing, err := a.Streams(ctx, "alice"); err != nil || listing.Limit != 3 || len(listing.Active) != 3 {
		t.Errorf("got %+v, %v, want 3 of 3", listing, err)
	}
	if err := a.ForceStop(ctx, "alice", last); err != nil {
		t.Error(err)
	}
	if n, err := a.ForceStopAll(ctx, "alice"); n != 2 || err != nil {
		t.Errorf("stopped %d, %v, want 2", n, err)
	}
	for _, want := range []bool{true, false} {
		if deleted, err := a.DeletePlan(ctx, "alice"); deleted != want || err != nil {
			t.Errorf("deleted: %v, %v, want %v", deleted, err, want)
		}
	}
}

// An operator without the right token is told that this is why.
func TestWrongToken(t *testing.T) {
	_, a := serve(t, client.WithToken("guess"))
	if _, err := a.Plan(t.Context(), "alice"); headcount.ErrorCode(err) != headcount.CodeUnauthorized {
		t.Errorf("got %v, want unauthorized", err)
	}
}
