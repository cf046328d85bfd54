package main

import (
	"bufio"
	"strings"
	"testing"
)

// A command travels as an array of strings with their lengths in bytes.
func TestCommand(t *testing.T) {
	got := string(command(nil, "ZADD", "z:", "page-1", "1700000000000", "é"))
	want := "*4\r\n$4\r\nZADD\r\n$8\r\nz:page-1\r\n$13\r\n1700000000000\r\n$2\r\né\r\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Only an integer counts as an answer, so that a Redis that refuses is noticed.
func TestReadInteger(t *testing.T) {
	in := bufio.NewReader(strings.NewReader(":1\r\n:0\r\n-ERR no\r\n"))
	for i, want := range []bool{true, true, false, false} {
		if err := readInteger(in); (err == nil) != want {
			t.Errorf("answer %d: %v, want success %v", i, err, want)
		}
	}
}
