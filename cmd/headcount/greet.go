package main

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
)

// greet tells a person at a terminal where the server is and what to try first.
func greet(w io.Writer, public, admin, dataDir string) {
	if path, err := filepath.Abs(dataDir); err == nil {
		dataDir = path
	}
	fmt.Fprintf(w, `
  headcount is running.

    API     http://%[1]s
    admin   http://%[2]s/metrics
    state   %[3]s

  Press play, from another terminal:

    curl --json '{"account_id":"alice","device_id":"tv"}' http://%[1]s/v1/streams

  Ctrl-C drains and stops; running streams survive a restart.

`, dialable(public), dialable(admin), dataDir)
}

// dialable turns a listening address into one that a program on this machine
// can connect to.
func dialable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
