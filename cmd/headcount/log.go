package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// newLogger returns the logger of the settings, writing to w.
func newLogger(l Logs, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.LogLevel)); err != nil {
		return nil, err
	}
	options := &slog.HandlerOptions{Level: level}
	if l.LogFormat == "text" || l.LogFormat == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return slog.New(slog.NewJSONHandler(w, options)), nil
}

// isTerminal reports whether a person reads what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
