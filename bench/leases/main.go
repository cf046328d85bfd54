// Command leases measures the LeaseStore on Redis beside the shape that most write,
// on two servers of the same kind, both pinned to core 0, with the load on the other
// core, through one client library, in turns. A rate is calls per second of processor
// time that the server spent, which other work on the machine hardly changes.
//
//	go run ./leases [-accounts 100000] [-rounds 5]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/rueidis"
	"golang.org/x/sys/unix"
)

// contestant is a way of keeping leases on Redis.
type contestant interface {
	play(ctx context.Context, account uint64, device byte) error // at most three streams an account
	renew(ctx context.Context, account uint64, device byte) error
	stop(ctx context.Context, account uint64, device byte) error
}

func main() {
	accounts := flag.Uint64("accounts", 100_000, "accounts of two streams each")
	rounds := flag.Int("rounds", 5, "turns of each contestant")
	flag.Parse()
	if err := run(context.Background(), *accounts, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, accounts uint64, rounds int) error {
	var load unix.CPUSet
	load.Set(1)
	if err := unix.SchedSetaffinity(0, &load); err != nil {
		return err
	}
	names := []string{"headcount", "reference"}
	var sides []contestant
	var clients []rueidis.Client
	for i, open := range []func(context.Context, rueidis.Client) (contestant, error){openOurs, openReference} {
		client, stop, err := serve(ctx, 17380+i)
		if err != nil {
			return err
		}
		defer stop()
		c, err := open(ctx, client)
		if err != nil {
			return err
		}
		sides, clients = append(sides, c), append(clients, client)
	}
	fmt.Printf("| | %s | %s | ratio |\n| --- | --- | --- | --- |\n", names[0], names[1])

	if err := memory(ctx, sides, clients, accounts); err != nil {
		return err
	}
	for _, row := range []struct {
		name     string
		do, undo func(contestant, uint64) error
	}{
		{
			"play-start on an empty account, /s of a core",
			func(c contestant, n uint64) error { return c.play(ctx, n+accounts, 1) },
			func(c contestant, n uint64) error { return c.stop(ctx, n+accounts, 1) },
		},
		{
			"play-start on an account with two streams, /s of a core",
			func(c contestant, n uint64) error { return c.play(ctx, n, 3) },
			func(c contestant, n uint64) error { return c.stop(ctx, n, 3) },
		},
		{
			"renewal on an account with two streams, /s of a core",
			func(c contestant, n uint64) error { return c.renew(ctx, n, byte(1+n%2)) },
			func(contestant, uint64) error { return nil },
		},
	} {
		var rates [2][]float64
		for range rounds {
			for side, c := range sides {
				before, err := spent(ctx, clients[side])
				if err != nil {
					return err
				}
				if err := each(accounts, func(n uint64) error { return row.do(c, n) }); err != nil {
					return err
				}
				after, err := spent(ctx, clients[side])
				if err != nil {
					return err
				}
				rates[side] = append(rates[side], float64(accounts)/(after-before))
				if err := each(accounts, func(n uint64) error { return row.undo(c, n) }); err != nil {
					return err
				}
			}
		}
		print(row.name, rates)
	}
	return nil
}

// memory fills both with two streams an account and prints what one takes.
func memory(ctx context.Context, sides []contestant, clients []rueidis.Client, accounts uint64) error {
	var bytes [2][]float64
	for side, c := range sides {
		before, err := used(ctx, clients[side])
		if err != nil {
			return err
		}
		if err := each(accounts, func(n uint64) error {
			for device := range byte(2) {
				if err := c.play(ctx, n, device+1); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		after, err := used(ctx, clients[side])
		if err != nil {
			return err
		}
		bytes[side] = append(bytes[side], (after-before)/float64(2*accounts))
	}
	print("bytes a stream", bytes)
	return nil
}

func print(name string, values [2][]float64) {
	var ratios []float64
	for i := range values[0] {
		ratios = append(ratios, values[0][i]/values[1][i])
	}
	fmt.Printf("| %s | %.0f | %.0f | %.2f |\n", name, median(values[0]), median(values[1]), median(ratios))
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

const callers = 128

// each calls do for 0 to n-1, many at once, each number once.
func each(n uint64, do func(uint64) error) error {
	var next atomic.Uint64
	var failed atomic.Value
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < n && failed.Load() == nil; i = next.Add(1) - 1 {
				if err := do(i); err != nil {
					failed.CompareAndSwap(nil, err)
				}
			}
		})
	}
	all.Wait()
	err, _ := failed.Load().(error)
	return err
}

// serve starts a Redis on core 0 and connects to it.
func serve(ctx context.Context, port int) (rueidis.Client, func(), error) {
	cmd := exec.CommandContext(ctx, "taskset", "-c", "0", "redis-server", "--port", fmt.Sprint(port),
		"--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for range 100 {
		c, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{fmt.Sprintf("127.0.0.1:%d", port)}, DisableCache: true, DisableRetry: true,
		})
		if err == nil {
			return c, func() { c.Close(); stop() }, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, nil, fmt.Errorf("no redis-server on port %d", port)
}

// used returns the bytes that the server's data takes.
func used(ctx context.Context, c rueidis.Client) (float64, error) {
	return info(ctx, c, "memory", "used_memory_dataset:")
}

// spent returns the seconds of a core that the server has worked.
func spent(ctx context.Context, c rueidis.Client) (float64, error) {
	user, err1 := info(ctx, c, "cpu", "used_cpu_user:")
	sys, err2 := info(ctx, c, "cpu", "used_cpu_sys:")
	return user + sys, errors.Join(err1, err2)
}

// info returns a number that the server tells about itself.
func info(ctx context.Context, c rueidis.Client, section, field string) (v float64, err error) {
	text, err := c.Do(ctx, c.B().Info().Section(section).Build()).ToString()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), field); ok {
			_, err := fmt.Sscan(n, &v)
			return v, err
		}
	}
	return 0, fmt.Errorf("the server does not tell %s", field)
}
