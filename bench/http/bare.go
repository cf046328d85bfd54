package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// row is a comparison with the bare handler.
type row struct {
	name, mix string
	goal      float64 // least share of the bare handler's rate
}

func rows() []row {
	return []row{
		{"heartbeat", "renew=1", 0.93},
		{"play-start, then stop", "play=1,stop=1", 0.90},
		{"play-start, same device again", "play=1", 0.90},
		{"presence beat", "beat=1", 0.93},
		{"count read", "count=1", 0.90},
	}
}

// againstBare writes the table of headcount and the bare handler.
func (b *bench) againstBare(ctx context.Context, text *strings.Builder) error {
	chosen := slices.DeleteFunc(rows(), func(r row) bool { return !b.only.MatchString(r.name) })
	if len(chosen) == 0 && !b.only.MatchString("ceiling") {
		return nil
	}
	ours, err := b.startHeadcount(ctx)
	if err != nil {
		return err
	}
	defer ours.stop()
	bare, careless, err := b.startBare(ctx, ours)
	if err != nil {
		return err
	}
	defer bare.stop()
	defer careless.stop()
	if err := b.ceiling(ctx, bare, careless, text); err != nil {
		return err
	}
	fmt.Fprintf(text, "\n| | headcount /s | bare /s | ratio | goal | headcount core µs | bare core µs | ratio | headcount p99 ms at half load | bare |\n")
	text.WriteString("|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range chosen {
		turns, err := b.contest(ctx, b.player(ours, r.mix), b.player(bare, r.mix))
		if err != nil {
			return err
		}
		ourTail, bareTail := "", ""
		if b.tails {
			half := figure(turns[0], rate) / 2
			if ourTail, err = b.tail(ctx, ours, r.mix, half); err != nil {
				return err
			}
			if bareTail, err = b.tail(ctx, bare, r.mix, half); err != nil {
				return err
			}
		}
		fmt.Fprintf(text, "| %s | %.0f | %.0f | %.2f | %.2f | %.1f | %.1f | %.2f | %s | %s |\n", r.name,
			figure(turns[0], rate), figure(turns[1], rate), ratio(turns[0], turns[1], rate), r.goal,
			figure(turns[0], processor), figure(turns[1], processor), ratio(turns[1], turns[0], processor),
			ourTail, bareTail)
	}
	return nil
}

// ceiling writes how much more the load generator can do than the bare handler,
// and what timeouts cost that.
func (b *bench) ceiling(ctx context.Context, bare, careless *server, text *strings.Builder) error {
	if !b.only.MatchString("ceiling") {
		return nil
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	raw, err := start(ctx, address, b.path("raw"), "-listen", address)
	if err != nil {
		return err
	}
	defer raw.stop()
	turns, err := b.contest(ctx, b.player(raw, "renew=1"), b.player(bare, "renew=1"), b.player(careless, "renew=1"))
	if err != nil {
		return err
	}
	fmt.Fprintf(text, "\nCeiling of the load: %.0f heartbeats a second against a server that answers without looking, %.1f times what the bare handler takes. "+
		"Without timeouts the bare handler's heartbeat costs %.2f of what it costs with them.\n",
		figure(turns[0], rate), ratio(turns[0], turns[1], rate), ratio(turns[2], turns[1], processor))
	return nil
}

// player returns a contestant of the closed loop.
func (b *bench) player(s *server, mix string) func(context.Context) (turn, error) {
	return func(ctx context.Context) (turn, error) {
		t, _, err := b.http(ctx, s, mix, 0)
		return t, err
	}
}

// tail returns the p99 of the mix's first kind in milliseconds, in an open loop
// of the given rate: the median of three turns.
func (b *bench) tail(ctx context.Context, s *server, mix string, perSecond float64) (string, error) {
	var tails []float64
	kind, _, _ := strings.Cut(mix, "=")
	for range 3 {
		_, report, err := b.http(ctx, s, mix, perSecond)
		if err != nil {
			return "", err
		}
		tails = append(tails, report.Kinds[kind].P99/1000)
	}
	return fmt.Sprintf("%.2f", median(tails)), nil
}

// startHeadcount starts headcount as its users do, everything embedded.
func (b *bench) startHeadcount(ctx context.Context) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := freeAddress()
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp(b.folder, "data")
	if err != nil {
		return nil, err
	}
	return start(ctx, address, b.path("headcount"), "serve", "--listen", address, "--admin-listen", admin, "--data-dir", data)
}
