package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headcount-live/headcount/crowd"
)

// mostBytesPerReader is how much heap and stack one open reader may cost. Ten of
// the 27 KiB that it was when measured are net/http's buffers, ten are stacks.
const mostBytesPerReader = 32 << 10

// Ten thousand people who watch a hundred pages cost a bounded piece of memory
// each, all are told of a change, and nothing of them is left when they go. They
// live in a process of their own, so that what is measured is the server alone.
func TestTenThousandReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 10,000 connections")
	}
	readers, pages := 10_000, 100
	if raceEnabled {
		readers = 1_000 // the race detector dies of more than 8,128 goroutines
	}
	s := newServer(t, t.Output(), func(c *Config) {
		c.Crowd = newCrowd(t, c.Logger, func(o *crowd.Options) { o.ReportInterval = time.Second })
	})
	front := listen(t, s.PublicServer())
	idle := measureMemory()
	began := time.Now()
	crew := hireAudience(t, front.Listener.Addr().String(), readers, pages)

	crew.await(t, "seated")
	full := measureMemory()
	t.Logf("%d readers seated after %v", readers, time.Since(began))
	if got := s.readers.count(); got != readers {
		t.Errorf("%d readers are open", got)
	}
	each := full.since(idle, readers)
	t.Logf("bytes a reader: %d of heap, %d of stack; %d resident", each.heap, each.stack, each.resident)
	if each := each.heap + each.stack; each > mostBytesPerReader && !raceEnabled {
		t.Errorf("a reader costs %d bytes, want at most %d", each, mostBytesPerReader)
	}

	began = time.Now()
	for page := range pages {
		s.crowd.Beat(strconv.Itoa(page), "s", crowd.Visitor{})
	}
	crew.await(t, "told")
	t.Logf("all told of a change after %v", time.Since(began))

	crew.dismiss()
	for s.readers.count() > 0 { // until the server has seen the connections close
		select {
		case <-t.Context().Done():
			t.Fatal("readers are left")
		case <-time.After(time.Millisecond):
		}
	}
	if got := s.crowd.Stats().Readers; got != 0 {
		t.Errorf("%d subscriptions are left", got)
	}
}

// footprint is what the process takes, in bytes.
type footprint struct{ heap, stack, resident int64 }

// since returns what each of n readers added.
func (f footprint) since(before footprint, n int) footprint {
	each := func(now, then int64) int64 { return (now - then) / int64(n) }
	return footprint{each(f.heap, before.heap), each(f.stack, before.stack), each(f.resident, before.resident)}
}

func measureMemory() footprint {
	runtime.GC()
	runtime.GC() // what the first one only made ready to be freed
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var pages int64
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		_, _ = fmt.Sscanf(string(statm), "%d %d", new(int64), &pages)
	}
	return footprint{int64(m.HeapAlloc), int64(m.StackInuse), pages * int64(os.Getpagesize())}
}

// audience is the process of the readers.
type audience struct {
	says  *bufio.Scanner
	stays io.Closer
}

func hireAudience(t *testing.T, address string, readers, pages int) *audience {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAudience$", "-test.count=1")
	cmd.Env = append(os.Environ(), fmt.Sprintf("HEADCOUNT_AUDIENCE=%s %d %d", address, readers, pages))
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it may have been killed
	})
	return &audience{bufio.NewScanner(out), in}
}

// dismiss makes the audience leave, as it does when this process dies.
func (a *audience) dismiss() { _ = a.stays.Close() }

// await blocks until the audience says a word.
func (a *audience) await(t *testing.T, word string) {
	t.Helper()
	for a.says.Scan() {
		if a.says.Text() == word {
			return
		}
	}
	t.Fatalf("the audience left before it was %s", word)
}

// TestAudience is the other process of TestTenThousandReaders, and nothing else.
func TestAudience(t *testing.T) {
	var address string
	var readers, pages int
	if _, err := fmt.Sscan(os.Getenv("HEADCOUNT_AUDIENCE"), &address, &readers, &pages); err != nil {
		t.Skip("is no test by itself")
	}
	var seated, told sync.WaitGroup
	seated.Add(readers)
	told.Add(readers)
	for i := range readers {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go watch(t, conn, streamPath(strconv.Itoa(i%pages)), seated.Done, told.Done)
	}
	seated.Wait()
	_, _ = fmt.Fprintln(os.Stdout, "seated")
	told.Wait()
	_, _ = fmt.Fprintln(os.Stdout, "told")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the other process has enough of it
}

// watch follows one stream and says when the first count came, and the second.
func watch(t *testing.T, conn net.Conn, path string, first, second func()) {
	_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	in := bufio.NewReaderSize(conn, 512)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Error(err)
		return
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		switch {
		case strings.HasPrefix(lines.Text(), `data: {"count":0,`):
			first()
		case strings.HasPrefix(lines.Text(), `data: {"count":1,`):
			second()
		}
	}
}
