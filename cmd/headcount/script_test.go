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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ports":   scriptPorts,
			"http":    scriptHTTP,
			"field":   scriptField,
			"sigterm": scriptSigterm,
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
		defer l.Close() // all stay open until all are chosen, so that they differ
		ts.Setenv(name, fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	}
}

// scriptHTTP sends a request until the answer has the status, for ten seconds at
// most, and prints the answer's body. Repeating is how a script waits for a
// server to be ready, or for a change to show.
//
//	http STATUS METHOD URL [BODY]
func scriptHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: http STATUS METHOD URL [BODY]")
	}
	body := ""
	if len(args) == 4 {
		body = args[3]
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	last := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		req, err := http.NewRequest(args[1], args[2], strings.NewReader(body))
		ts.Check(err)
		res, err := client.Do(req)
		if err != nil {
			last = err.Error()
			continue
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		ts.Check(err)
		if fmt.Sprint(res.StatusCode) == args[0] {
			fmt.Fprintln(ts.Stdout(), strings.TrimSpace(string(text)))
			return
		}
		last = fmt.Sprintf("%s\n%s", res.Status, text)
	}
	ts.Fatalf("%s %s: got %s, want status %s", args[1], args[2], last, args[0])
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
