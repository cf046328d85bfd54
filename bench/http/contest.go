package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/headcount-live/headcount/load"
)

// turn is what one contestant reached in one turn.
type turn struct {
	perSecond float64
	processor float64 // microseconds of the server's core per request
}

// contest lets contestants take their turns, A B A B, so that whatever else the
// machine does meets all of them alike, and returns the turns of each.
func (b *bench) contest(ctx context.Context, contestants ...func(context.Context) (turn, error)) ([][]turn, error) {
	turns := make([][]turn, len(contestants))
	for range b.rounds {
		for i, play := range contestants {
			t, err := play(ctx)
			if err != nil {
				return nil, err
			}
			turns[i] = append(turns[i], t)
		}
	}
	return turns, nil
}

// http runs the HTTP load of a mix against s. It is an error if anything but 2xx
// comes back: a server that refuses is not faster.
func (b *bench) http(ctx context.Context, s *server, mix string, rate float64) (turn, load.HTTPReport, error) {
	before, err := s.processorTime()
	if err != nil {
		return turn{}, load.HTTPReport{}, err
	}
	out, err := loaded(ctx, b.path("headcount"), "bench", "http", "--url", "http://"+s.address, "--mix", mix,
		"--duration", b.duration.String(), "--warmup", "300ms", "--spin", "--rate", strconv.FormatFloat(rate, 'f', 0, 64),
		"--accounts", strconv.Itoa(accounts), "--sessions", strconv.Itoa(sessions), "--pages", strconv.Itoa(pages))
	if err != nil {
		return turn{}, load.HTTPReport{}, err
	}
	after, err := s.processorTime()
	if err != nil {
		return turn{}, load.HTTPReport{}, err
	}
	var report load.HTTPReport
	if err := json.Unmarshal(out, &report); err != nil {
		return turn{}, report, fmt.Errorf("the report of the load: %w", err)
	}
	if report.Errors > 0 {
		return turn{}, report, fmt.Errorf("%s made %d errors of %s: %s", s.name, report.Errors, mix, out)
	}
	return turn{report.RequestsPerSec, perRequest(after-before, report.TotalRequests)}, report, nil
}

func perRequest(spent time.Duration, requests int64) float64 {
	return float64(spent.Nanoseconds()) / 1000 / float64(requests)
}

// What the load of a turn moves about in. The accounts are few, so that pressing
// play for them before a turn is little of what it costs the server.
const (
	accounts = 2000
	sessions = 10_000
	pages    = 1000
)

// figure returns the median of what get picks from the turns.
func figure(turns []turn, get func(turn) float64) float64 {
	var all []float64
	for _, t := range turns {
		all = append(all, get(t))
	}
	return median(all)
}

// ratio returns the median of the ratios of neighbouring turns.
func ratio(ours, theirs []turn, get func(turn) float64) float64 {
	var all []float64
	for i := range ours {
		all = append(all, get(ours[i])/get(theirs[i]))
	}
	return median(all)
}

func rate(t turn) float64      { return t.perSecond }
func processor(t turn) float64 { return t.processor }

func median(figures []float64) float64 {
	slices.Sort(figures)
	n := len(figures)
	return (figures[(n-1)/2] + figures[n/2]) / 2
}
