// Package redistest starts real Redis servers for tests: on free ports, in a
// folder of their own, ended with the test. Faults are what a machine does to a
// process: kill, freeze, restart empty.
package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// binaries are the servers that will do, by preference; HEADCOUNT_TEST_REDIS names another.
var binaries = []string{"redis-server", "valkey-server"}

// Server is one running server.
type Server struct {
	Addr string
	tb   testing.TB
	args []string
	cmd  *exec.Cmd
	done chan struct{}
}

// Start starts a server with these configuration arguments (--name value) beside a
// port and no persistence. The test is skipped where no server is installed, unless
// HEADCOUNT_TEST_SERVICES says that it must be.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return start(tb, false, args...)
}

func start(tb testing.TB, sentinel bool, args ...string) *Server {
	tb.Helper()
	port := FreePort(tb)
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), tb: tb}
	s.args = []string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no"}
	if sentinel { // rewrites its configuration, so it needs a file
		file := filepath.Join(dir, "sentinel.conf")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			tb.Fatal(err)
		}
		s.args = append([]string{file, "--sentinel"}, s.args...)
	} else {
		s.args = append(s.args, "--save", "", "--appendonly", "no")
	}
	s.args = append(s.args, args...)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	tb.Cleanup(s.Kill)
	s.Restart()
	return s
}

// URL returns the address as headcount's --redis takes it.
func (s *Server) URL() string { return "redis://" + s.Addr }

// Pid returns the process id.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Kill ends the server as kill -9 does; what it held is lost.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.done
	s.cmd = nil
}

// Restart starts the server again, empty, on the same port, and waits until it answers.
func (s *Server) Restart() {
	s.tb.Helper()
	path := binary(s.tb)
	var out strings.Builder
	cmd := exec.CommandContext(context.Background(), path, s.args...) //nolint:gosec // the arguments are the tests' own
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	s.cmd, s.done = cmd, done
	for deadline := time.Now().Add(10 * time.Second); ; {
		if reply, err := Command(s.Addr, "PING"); err == nil && strings.HasPrefix(reply, "+PONG") {
			return
		}
		select {
		case <-done:
			s.tb.Fatalf("%s ended at once:\n%s", path, out.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.tb.Fatalf("%s did not answer in 10 s", path)
		}
	}
}

// Freeze stops the process without ending it; its connections stay open and silent.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.tb.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.tb.Fatal(err)
	}
}

// Command sends one inline command over a connection of its own and returns the
// first line of the answer.
func Command(addr string, words ...string) (string, error) {
	answer, err := CommandAll(addr, words...)
	line, _, _ := strings.Cut(answer, "\r\n")
	return line, err
}

// CommandAll is [Command] with as much of the answer as comes at once.
func CommandAll(addr string, words ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(conn, "%s\r\n", strings.Join(words, " ")); err != nil {
		return "", err
	}
	buf := make([]byte, 16<<10)
	n, err := conn.Read(buf)
	return string(buf[:n]), err
}

// FreePort returns a port of the loopback address that was free a moment ago.
func FreePort(tb testing.TB) int {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func binary(tb testing.TB) string {
	tb.Helper()
	names := binaries
	if named := os.Getenv("HEADCOUNT_TEST_REDIS"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("HEADCOUNT_TEST_SERVICES") != "" {
		tb.Fatalf("none of %v is installed; run make needs", names)
	}
	tb.Skipf("none of %v is installed", names)
	return ""
}
