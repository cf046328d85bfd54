package redistest

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// StartCluster starts a Cluster of primaries, each with as many replicas, and waits
// until all of it serves.
func StartCluster(tb testing.TB, primaries, replicas int) []*Server {
	tb.Helper()
	var nodes []*Server
	args := []string{"--cluster", "create"}
	for range primaries * (1 + replicas) {
		n := Start(tb, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no")
		nodes = append(nodes, n)
		args = append(args, n.Addr)
	}
	args = append(args, "--cluster-replicas", strconv.Itoa(replicas), "--cluster-yes")
	out, err := exec.CommandContext(context.Background(), "redis-cli", args...).CombinedOutput()
	if err != nil {
		tb.Fatalf("redis-cli: %v\n%s", err, out)
	}
	for _, n := range nodes {
		until(tb, "the cluster serves", func() bool {
			info, err := CommandAll(n.Addr, "CLUSTER", "INFO")
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_ok:16384")
		})
	}
	return nodes
}

// StartSentinel starts a primary, a replica of it and three sentinels that watch
// them as "headcount", and returns the two servers and the sentinels.
func StartSentinel(tb testing.TB) (servers, sentinels []*Server) {
	tb.Helper()
	primary := Start(tb)
	host, port, _ := strings.Cut(primary.Addr, ":")
	replica := Start(tb, "--replicaof", host+" "+port)
	until(tb, "the replica follows", func() bool {
		info, err := CommandAll(replica.Addr, "INFO", "replication")
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	for range 3 {
		s := start(tb, true, "--sentinel",
			"monitor headcount "+host+" "+port+" 2",
			"--sentinel", "down-after-milliseconds headcount 1000",
			"--sentinel", "failover-timeout headcount 5000")
		sentinels = append(sentinels, s)
	}
	for _, s := range sentinels {
		until(tb, "the sentinels know each other", func() bool {
			info, err := CommandAll(s.Addr, "INFO", "sentinel")
			return err == nil && strings.Contains(info, "status=ok,address="+primary.Addr+",slaves=1,sentinels=3")
		})
	}
	return []*Server{primary, replica}, sentinels
}

func until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("waited 20 s in vain: %s", what)
		}
	}
}
