package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// headcountRun runs the command as main does and returns what it said.
func headcountRun(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	getenv := func(name string) string { return env[name] }
	code = run(t.Context(), args, getenv, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "headcount.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A flag wins over the environment, the environment over the file, the file over
// the default.
func TestPrecedenceOfSettings(t *testing.T) {
	file := writeFile(t, "lease_ttl: 101s\n")
	env := map[string]string{"HEADCOUNT_LEASE_TTL": "102s"}
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"default", nil, nil, "lease_ttl: 1m30s"},
		{"file", nil, []string{"--config", file}, "lease_ttl: 1m41s"},
		{"file named by the environment", map[string]string{"HEADCOUNT_CONFIG": file}, nil, "lease_ttl: 1m41s"},
		{"environment", env, []string{"--config", file}, "lease_ttl: 1m42s"},
		{"flag", env, []string{"--config", file, "--lease-ttl", "103s"}, "lease_ttl: 1m43s"},
		{"an empty variable counts as none", map[string]string{"HEADCOUNT_LEASE_TTL": ""}, nil, "lease_ttl: 1m30s"},
	} {
		code, stdout, stderr := headcountRun(t, c.env, append([]string{"config"}, c.args...)...)
		if code != exitOK || !strings.Contains(stdout, c.want+"\n") {
			t.Errorf("%s: got code %d, %s%s, want %s", c.name, code, stdout, stderr, c.want)
		}
	}
}

// What config prints is a configuration file: fed back, it changes nothing.
func TestPrintedConfigurationCanBeFedBack(t *testing.T) {
	_, first, _ := headcountRun(t, map[string]string{"HEADCOUNT_NODE_NAME": `it's "1": #2`}, "config",
		"--catalogue", "family=6,solo=1", "--default-plan", "solo", "--deny-status", "403",
		"--cors-origins", "https://a.example,https://b.example", "--access-log",
		"--trusted-proxies", "10.0.0.0/8,192.0.2.1,2001:db8::/32", "--bot-agents", "robot,a b", "--presence-window", "45s")
	code, second, stderr := headcountRun(t, nil, "config", "--config", writeFile(t, first))
	if code != exitOK || second != first {
		t.Errorf("got code %d, %s\n%s, want\n%s", code, stderr, second, first)
	}
}

// No secret is printed, and what stands in its place cannot become one.
func TestSecretsAreNotPrinted(t *testing.T) {
	secret, key, token := strings.Repeat("s", 40), strings.Repeat("k", 40), strings.Repeat("t", 40)
	_, stdout, _ := headcountRun(t, map[string]string{
		"HEADCOUNT_SECRET": secret, "HEADCOUNT_HASH_KEY": key, "HEADCOUNT_ADMIN_TOKEN": token,
	}, "config")
	for name, value := range map[string]string{"secret": secret, "hash_key": key, "admin_token": token} {
		if strings.Contains(stdout, value) {
			t.Errorf("%s is printed", name)
		}
		if !strings.Contains(stdout, "# "+name+": set, not shown\n") {
			t.Errorf("%s: got\n%s, want a comment that says it is set", name, stdout)
		}
	}
}

// A setting that cannot be is a usage error that names it and says what to do.
func TestContradictionsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		file string
		want []string // parts of the message
	}{
		{name: "TTL below twice the interval", args: []string{"--lease-ttl", "59s"}, want: []string{"--lease-ttl 59s", "--heartbeat-interval 30s", "raise"}},
		{name: "unknown key", file: "lease_tll: 5s", want: []string{`"lease_tll"`, "headcount config"}},
		{name: "key spelled as a flag", file: "lease-ttl: 5s", want: []string{`"lease-ttl"`, "lease_ttl"}},
		{name: "key given twice", file: "lease_ttl: 5s\nlease_ttl: 6s", want: []string{"lease_ttl", "already defined"}},
		{name: "file is no mapping", file: "lease_ttl", want: []string{"not a YAML mapping"}},
		{name: "file does not exist", args: []string{"--config", "nowhere.yaml"}, want: []string{"nowhere.yaml", "does not exist"}},
		{name: "unreadable value of the environment", env: map[string]string{"HEADCOUNT_LEASE_TTL": "soon"}, want: []string{"$HEADCOUNT_LEASE_TTL", `"soon"`}},
		{name: "unreadable value of the file", file: "lease_ttl: 90", want: []string{"the key lease_ttl", "missing unit"}},
		{name: "list inside a list", file: "cors_origins: [[a]]", want: []string{"the key cors_origins", "expected one value"}},
		{name: "unknown flag", args: []string{"--leese-ttl", "5s"}, want: []string{"--leese-ttl"}},
		{name: "admin listener open to all", args: []string{"--admin-listen", ":9090"}, want: []string{"--admin-listen :9090", "--admin-token"}},
		{name: "address without a port", args: []string{"--listen", "localhost"}, want: []string{"--listen", "HOST:PORT"}},
		{name: "auth that is not built", args: []string{"--auth", "jwt"}, want: []string{"--auth", "jwt", "none"}},
		{name: "origin with a path", args: []string{"--cors-origins", "https://a.example/b"}, want: []string{"--cors-origins", "https://a.example/b"}},
		{name: "plans elsewhere", args: []string{"--plans", "mysql://h/d"}, want: []string{"--plans", "mysql://h/d", "sqlite:PATH"}},
		{name: "deny status that says yes", args: []string{"--deny-status", "200"}, want: []string{"--deny-status 200", "400 to 499"}},
		{name: "default plan out of the catalogue", args: []string{"--catalogue", "solo=1"}, want: []string{"--default-plan", "standard", "--catalogue"}},
		{name: "plan with too many streams", args: []string{"--catalogue", "standard=65"}, want: []string{"standard=65", "0 to 64"}},
		{name: "secret too short", env: map[string]string{"HEADCOUNT_SECRET": strings.Repeat("a", 32) + ",short"}, want: []string{"--secret", "number 2", "32", "openssl rand"}},
		{name: "TTL too long for the engine", args: []string{"--lease-ttl", "25h"}, want: []string{"--lease-ttl 25h", "1s to 24h"}},
		{name: "interval of nothing", args: []string{"--heartbeat-interval", "0s"}, want: []string{"--heartbeat-interval 0s"}},
		{name: "window below twice the beat", args: []string{"--presence-window", "19s"}, want: []string{"--presence-window 19s", "--presence-heartbeat-interval 10s"}},
		{name: "window below twice the report", args: []string{"--presence-report-interval", "16s"}, want: []string{"--presence-window 30s", "--presence-report-interval 16s"}},
		{name: "counts stale between two reports", args: []string{"--count-stale-after", "3s"}, want: []string{"--count-stale-after 3s", "--presence-report-interval 2s"}},
		{name: "too many partitions", args: []string{"--partitions", "5000"}, want: []string{"--partitions 5000", "4096"}},
		{name: "no pages at all", args: []string{"--max-pages", "0"}, want: []string{"--max-pages 0", "at least 1"}},
		{name: "proxy that is no network", args: []string{"--trusted-proxies", "10.0.0.0/99"}, want: []string{"--trusted-proxies", "10.0.0.0/99", "10.0.0.0/8"}},
		{name: "no readers at all", args: []string{"--max-readers", "0"}, want: []string{"--max-readers 0", "at least 1"}},
		{name: "presence origin with a path", args: []string{"--presence-origins", "https://a.example/b"}, want: []string{"--presence-origins", "https://a.example/b"}},
		{name: "unknown level", args: []string{"--log-level", "loud"}, want: []string{"--log-level", "loud"}},
	} {
		args := append([]string{"config"}, c.args...)
		if c.file != "" {
			args = append(args, "--config", writeFile(t, c.file))
		}
		code, stdout, stderr := headcountRun(t, c.env, args...)
		if code != exitUsage || stdout != "" {
			t.Errorf("%s: got code %d and %q, want %d and nothing", c.name, code, stdout, exitUsage)
		}
		for _, part := range c.want {
			if !strings.Contains(stderr, part) {
				t.Errorf("%s: got %q, want %q in it", c.name, stderr, part)
			}
		}
	}
}

// Serve refuses what config refuses, before it touches anything.
func TestServeChecksItsSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a server that starts nonetheless stops at once
	var out, errs bytes.Buffer
	code := run(ctx, []string{"serve", "--data-dir", dir, "--lease-ttl", "1s"}, func(string) string { return "" }, strings.NewReader(""), &out, &errs)
	if code != exitUsage || !strings.Contains(errs.String(), "--lease-ttl") {
		t.Errorf("got code %d, %q, want %d and --lease-ttl named", code, errs.String(), exitUsage)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the data directory was made")
	}
}

// Every setting has help that names its environment variable, and no two share one.
func TestHelpNamesEveryVariable(t *testing.T) {
	_, config, _ := headcountRun(t, nil, "config")
	_, help, _ := headcountRun(t, nil, "serve", "--help")
	help = strings.Join(strings.Fields(help), " ")
	keys := 0
	for line := range strings.Lines(config) {
		key, _, ok := strings.Cut(strings.TrimPrefix(line, "# "), ":")
		if !ok || strings.HasPrefix(line, " ") {
			continue
		}
		keys++
		if want := "$HEADCOUNT_" + strings.ToUpper(key); !strings.Contains(help, "("+want+")") {
			t.Errorf("the help of serve does not name %s", want)
		}
	}
	if keys < 15 {
		t.Errorf("found %d settings, want them all", keys)
	}
}
