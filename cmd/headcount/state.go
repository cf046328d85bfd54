package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/snapshot"
)

// liveState is what outlives a restart, though not a crash.
type liveState interface {
	WriteSnapshot(w io.Writer) error
	Restore(r io.Reader) error
}

// liveFile is where one kind of live state waits for the next start.
type liveFile struct {
	path  string
	kind  string
	state liveState
}

type liveFiles []liveFile

// stateKind names what is in a file, and the key of the hashes in it: under
// another key nothing in it could be found again, so it is foreign.
func stateKind(what string, h *headcount.Hasher) string {
	return fmt.Sprintf("%s %016x", what, h.Fingerprint())
}

// restore takes up what an earlier process left. A file that is damaged or foreign
// is kept aside and the server starts without it: players re-register by
// themselves. A file that can neither be read nor moved is an error, because a
// later start would take up what is old by then.
func (files liveFiles) restore(log *slog.Logger) error {
	for _, f := range files {
		_, err := snapshot.Consume(f.path, f.kind, f.state.Restore)
		if _, damaged := errors.AsType[*snapshot.Damaged](err); damaged {
			log.Warn("live state was not restored; who is still there will be back within a heartbeat", "error", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot take up the live state of the last run: %w; make %s readable and its directory writable, or remove it", err, f.path)
		}
	}
	return nil
}

// write keeps the live state for the next start.
func (files liveFiles) write() error {
	for _, f := range files {
		if err := snapshot.Write(f.path, f.kind, f.state.WriteSnapshot); err != nil {
			return fmt.Errorf("live state was not kept; who is still there will be back within a heartbeat of the next start: %w", err)
		}
	}
	return nil
}
