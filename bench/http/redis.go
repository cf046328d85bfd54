package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// rival is one way to count viewers with Redis, in the fewest commands: without
// the expiry, the windows and the truth that a shop would need on top.
type rival struct {
	name, op string
	depth    int
}

func rivals() []rival {
	return []rival{
		{"Redis, PFADD", "pfadd", 1},
		{"Redis, PFADD, 64 in a pipeline", "pfadd", 64},
		{"Redis, PFCOUNT", "pfcount", 1},
		{"Redis, PFCOUNT, 64 in a pipeline", "pfcount", 64},
		{"Redis, ZADD", "zadd", 1},
		{"Redis, ZADD, 64 in a pipeline", "zadd", 64},
		{"Redis, ZREMRANGEBYSCORE and ZCARD", "zcard", 1},
		{"Redis, ZREMRANGEBYSCORE and ZCARD, 64 in a pipeline", "zcard", 64},
	}
}

// againstRedis writes the table of beats and reads: headcount over HTTP and in
// batches, and one Redis asked in its own protocol.
func (b *bench) againstRedis(ctx context.Context, text *strings.Builder) error {
	if !b.only.MatchString("Redis") {
		return nil
	}
	ours, err := b.startHeadcount(ctx)
	if err != nil {
		return err
	}
	defer ours.stop()
	redis, err := b.startRedis(ctx)
	if err != nil {
		return err
	}
	defer redis.stop()
	names := []string{"headcount, beat over HTTP", "headcount, beats in batches of 1,000 over HTTP", "headcount, count read over HTTP"}
	contestants := []func(context.Context) (turn, error){
		b.player(ours, "beat=1"), b.caller(ours, "batch", 1), b.player(ours, "count=1"),
	}
	for _, r := range rivals() {
		names = append(names, r.name)
		contestants = append(contestants, b.caller(redis, r.op, r.depth))
	}
	turns, err := b.contest(ctx, contestants...)
	if err != nil {
		return err
	}
	text.WriteString("\n| | operations /s | server core µs |\n|:--|--:|--:|\n")
	for i, name := range names {
		fmt.Fprintf(text, "| %s | %.0f | %.2f |\n", name, figure(turns[i], rate), figure(turns[i], processor))
	}
	return nil
}

// startRedis starts a Redis that keeps nothing on disk.
func (b *bench) startRedis(ctx context.Context) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	return start(ctx, address, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", b.folder)
}

// caller returns a contestant that calls s with depth operations at a time on
// each connection.
func (b *bench) caller(s *server, op string, depth int) func(context.Context) (turn, error) {
	return func(ctx context.Context) (turn, error) {
		before, err := s.processorTime()
		if err != nil {
			return turn{}, err
		}
		out, err := loaded(ctx, b.path("resp"), "-address", s.address, "-op", op, "-depth", strconv.Itoa(depth),
			"-duration", b.duration.String(), "-sessions", strconv.Itoa(sessions), "-pages", strconv.Itoa(pages))
		if err != nil {
			return turn{}, err
		}
		after, err := s.processorTime()
		if err != nil {
			return turn{}, err
		}
		var result struct {
			Operations int64   `json:"operations"`
			PerSecond  float64 `json:"per_second"`
		}
		if err := json.Unmarshal(out, &result); err != nil {
			return turn{}, fmt.Errorf("the report of the load: %w", err)
		}
		return turn{result.PerSecond, perRequest(after-before, result.Operations)}, nil
	}
}
