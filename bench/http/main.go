// Command http measures headcount over HTTP beside a bare net/http handler that
// reads the same bodies and writes the same bytes, and beside two ways to count
// viewers with Redis: turn by turn, servers pinned to one core and load to
// another. It needs Linux with two cores, taskset and redis-server.
//
//	cd bench && go run ./http          prints the tables
//	cd bench && go run ./http -update  puts them into ../docs/benchmarks.md
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// options is what is measured, how long and how often.
type options struct {
	rounds   int
	duration time.Duration
	only     *regexp.Regexp
	tails    bool
	update   bool
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 11, "turns of each contestant, of which the median counts")
	flag.DurationVar(&o.duration, "duration", time.Second, "length of one turn")
	only := flag.String("only", "", "measure only rows whose name matches this regular expression")
	flag.BoolVar(&o.tails, "tails", true, "measure latencies at half load too, which takes as long again")
	flag.BoolVar(&o.update, "update", false, "put the tables into "+document)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, *only); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, only string) (err error) {
	if o.only, err = regexp.Compile(only); err != nil {
		return err
	}
	b, err := build(ctx, o)
	if err != nil {
		return err
	}
	defer b.cleanUp()
	var text strings.Builder
	text.WriteString(machine())
	if err := b.againstBare(ctx, &text); err != nil {
		return err
	}
	if err := b.againstRedis(ctx, &text); err != nil {
		return err
	}
	if o.update {
		return update(text.String())
	}
	fmt.Print(text.String())
	return nil
}
