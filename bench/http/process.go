package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Cores of the servers and of the load.
const (
	serverCore = "0"
	loadCore   = "1"
)

// bench is what the measurements share.
type bench struct {
	options
	folder string // of the binaries and of what servers write
}

// build compiles the contestants, so that all of them are of this checkout and
// this compiler.
func build(ctx context.Context, o options) (*bench, error) {
	folder, err := os.MkdirTemp("", "headcount-bench")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, folder: folder}
	for _, p := range []struct{ name, folder, pkg string }{
		{"headcount", "..", "./cmd/headcount"},
		{"bare", ".", "./bare"},
		{"raw", ".", "./raw"},
		{"resp", ".", "./resp"},
	} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", b.path(p.name), p.pkg)
		cmd.Dir = p.folder
		if out, err := cmd.CombinedOutput(); err != nil {
			b.cleanUp()
			return nil, fmt.Errorf("building %s: %w\n%s", p.name, err, out)
		}
	}
	return b, nil
}

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }
func (b *bench) cleanUp()                { _ = os.RemoveAll(b.folder) }

// server is a running contestant, pinned to serverCore.
type server struct {
	name    string
	address string
	cmd     *exec.Cmd
	output  bytes.Buffer
	done    chan struct{}
}

// start runs a server and returns when it accepts connections on address.
func start(ctx context.Context, address, program string, args ...string) (*server, error) {
	s := &server{name: filepath.Base(program), address: address, done: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, "taskset", append([]string{"-c", serverCore, program}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait()
	}()
	for range 500 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return s, nil
		}
		select {
		case <-s.done:
			return nil, fmt.Errorf("%s ended at once: %s", s.name, s.output.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.stop()
	return nil, fmt.Errorf("%s does not listen on %s: %s", s.name, address, s.output.String())
}

// stop asks the server to end, and waits until it has.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(15 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}

// processorTime returns how long the server's threads have run. Unlike its rate
// of answers, that hardly depends on what else the machine is doing.
func (s *server) processorTime() (sum time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("%s has no threads to look at; has it ended? %s", s.name, s.output.String())
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return 0, err
		}
		ran, _, _ := bytes.Cut(text, []byte(" "))
		ns, err := strconv.ParseInt(string(ran), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// loaded runs a load generator on its core to its end and returns its output.
func loaded(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", loadCore, program}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s", filepath.Base(program), args, err, stderr.Bytes())
	}
	return out, nil
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
