package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// document is where the tables go, between two marks.
const (
	document = "../docs/benchmarks.md"
	tableTop = "<!-- http: cd bench && go run ./http -update -->\n"
	tableEnd = "<!-- end of http -->\n"
)

// update replaces what is between the marks.
func update(text string) error {
	doc, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(doc, []byte(tableTop))
	_, after, closed := bytes.Cut(rest, []byte(tableEnd))
	if !found || !closed {
		return fmt.Errorf("%s lacks the line %q or %q", document, strings.TrimSpace(tableTop), strings.TrimSpace(tableEnd))
	}
	return os.WriteFile(document, fmt.Appendf(nil, "%s%s\n%s\n%s%s", before, tableTop, text, tableEnd, after), 0o644)
}

// machine describes what the figures were taken on.
func machine() string {
	return fmt.Sprintf("%s, %d cores, Linux %s, %s, %s; %s.\n",
		processorName(), runtime.NumCPU(), output("uname", "-r"), runtime.Version(),
		redisVersion(), time.Now().UTC().Format(time.DateOnly))
}

func processorName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// redisVersion cuts "Redis server v=7.0.15 sha=..." short.
func redisVersion() string {
	version := output("redis-server", "--version")
	if _, rest, ok := strings.Cut(version, "v="); ok {
		version, _, _ = strings.Cut(rest, " ")
	}
	return "Redis " + version
}

func output(program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
