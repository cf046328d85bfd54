// Command resp loads a server with beats and reads of pages in protocols other
// than one HTTP request each: Redis commands, pipelined, or headcount's batches.
// It prints one JSON line.
//
//	resp -address 127.0.0.1:6379 -op pfadd -depth 64
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/headcount-live/headcount/load"
)

const connections = 64

type options struct {
	address         string
	op              string
	depth           int
	duration        time.Duration
	sessions, pages int
}

func main() {
	var o options
	flag.StringVar(&o.address, "address", "127.0.0.1:6379", "server to load")
	flag.StringVar(&o.op, "op", "pfadd", "pfadd, pfcount, zadd, zcard, or batch for headcount's batches of 1,000 beats")
	flag.IntVar(&o.depth, "depth", 1, "operations that a connection sends before it waits for their answers")
	flag.DurationVar(&o.duration, "duration", 3*time.Second, "how long to load it")
	flag.IntVar(&o.sessions, "sessions", 10_000, "sessions that look at pages")
	flag.IntVar(&o.pages, "pages", 1000, "pages they look at")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "resp:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	call, perRequest, err := operation(o)
	if err != nil {
		return err
	}
	var operations atomic.Int64
	var group errgroup.Group
	began := time.Now()
	for i := range connections {
		group.Go(func() error {
			conn, err := net.Dial("tcp", o.address)
			if err != nil {
				return err
			}
			defer conn.Close()
			c := &client{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), next: i * o.sessions / connections}
			for time.Since(began) < o.duration {
				if err := c.turn(o.depth, call); err != nil {
					return err
				}
				operations.Add(int64(o.depth * perRequest))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"operations": operations.Load(),
		"per_second": float64(operations.Load()) / time.Since(began).Seconds(),
	})
}

// call appends one request about a session to b, and says how to read its answer.
type call struct {
	write func(b []byte, session int) []byte
	read  func(in *bufio.Reader) error
}

// client is one connection.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	next int // session
}

// turn sends depth requests in one write and reads their answers.
func (c *client) turn(depth int, do call) error {
	c.out = c.out[:0]
	for range depth {
		c.out = do.write(c.out, c.next)
		c.next++
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	for range depth {
		if err := do.read(c.in); err != nil {
			return err
		}
	}
	return nil
}

// operation returns how to call what o names, and how many operations a call is.
func operation(o options) (do call, perRequest int, err error) {
	switch o.op {
	case "pfadd", "pfcount", "zadd", "zcard":
		return redisCall(o, newViewers(o)), 1, nil
	case "batch":
		return batchCall(o, newViewers(o)), batchSize, nil
	}
	return call{}, 0, errors.New("-op must be pfadd, pfcount, zadd, zcard or batch")
}

// viewers are the sessions and the page that each looks at, with ids as long and
// a skew as in the load over HTTP. They are made beforehand, so that the load
// costs as little as it can.
type viewers struct{ names, pages []string }

func newViewers(o options) *viewers {
	v := &viewers{make([]string, o.sessions), make([]string, o.sessions)}
	for i := range o.sessions {
		v.names[i] = fmt.Sprintf("%032x", i)
		v.pages[i] = fmt.Sprintf("page-%019d", load.ShopPage(uint32(i), o.pages))
	}
	return v
}
