package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts run this test binary as headcount.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"headcount": main})
}

// TestScripts runs the stories in testdata/script against the real command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// A busy machine must not turn a story about limits into one about a slow disk.
			env.Setenv("HEADCOUNT_PLAN_TIMEOUT", "10s")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ports":     scriptPorts,
			"http":      scriptHTTP,
			"await":     scriptAwait,
			"awaitbody": scriptAwaitBody,
			"field":     scriptField,
			"sigterm":   scriptSigterm,
		},
	})
}

// scriptPorts sets each variable named to a port that nothing listens on.
//
//	ports PORT ADMIN
func scriptPorts(ts *testscript.TestScript, neg bool, names []string) {
	if neg || len(names) == 0 {
		ts.Fatalf("usage: ports NAME...")
	}
	for _, name := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		defer l.Close() //nolint:revive // all stay open until all are chosen, so that they differ
		ts.Setenv(name, fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	}
}

// scriptHTTP sends a request, demands the status and prints the answer's body.
//
//	http STATUS METHOD URL [BODY]
func scriptHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if got := request(ts, neg, args); got != args[0] {
		ts.Fatalf("%s %s: got %s, want status %s", args[1], args[2], got, args[0])
	}
}

// scriptAwait repeats a request until the answer has the status, for ten seconds
// at most: how a script waits for a server to be ready, or for a change to show.
//
//	await STATUS METHOD URL [BODY]
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	got := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = request(ts, neg, args); got == args[0] {
			return
		}
	}
	ts.Fatalf("%s %s: got %s, want status %s", args[1], args[2], got, args[0])
}

// scriptAwaitBody repeats a GET until the answer holds a text, for ten seconds at
// most.
//
//	awaitbody TEXT URL
func scriptAwaitBody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: awaitbody TEXT URL")
	}
	got := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, got = answer(ts, "GET", args[1], ""); strings.Contains(got, args[0]) {
			fmt.Fprintln(ts.Stdout(), got)
			return
		}
	}
	ts.Fatalf("GET %s: got %s, want %s in it", args[1], got, args[0])
}

// request returns the status of the answer as text, or why there was none.
func request(ts *testscript.TestScript, neg bool, args []string) (status string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: http|await STATUS METHOD URL [BODY]")
	}
	status, body := answer(ts, args[1], args[2], strings.Join(args[3:], ""))
	if body != "" {
		fmt.Fprintln(ts.Stdout(), body)
	}
	return status
}

// answer sends a request and returns the status as text, or why there was no
// answer, and the body.
func answer(ts *testscript.TestScript, method, url, body string) (status, text string) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	ts.Check(err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Do(req)
	if err != nil {
		return err.Error(), ""
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	ts.Check(err)
	return fmt.Sprint(res.StatusCode), strings.TrimSpace(string(raw))
}

// scriptField sets a variable to a top-level string of the JSON last printed.
//
//	field NAME KEY
func scriptField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field NAME KEY")
	}
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	value, ok := object[args[1]].(string)
	if !ok {
		ts.Fatalf("no string %q in %s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], value)
}

// scriptSigterm sends SIGTERM, which the kill of scripts does not know, to what
// runs in the background.
func scriptSigterm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sigterm")
	}
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}
