package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dataDir is the directory of everything that outlives the process. One server
// at a time holds it.
type dataDir struct {
	path string
	lock *os.File
}

// openDataDir makes the directory if it is missing and locks it. The lock ends
// with the process, however it ends.
func openDataDir(path string) (*dataDir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the data directory: %w; name one that this user may write with --data-dir", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write in the data directory: %w; name one that this user may write with --data-dir", err)
	}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		lock.Close()
		return nil, fmt.Errorf("another server runs on the data directory %s; stop it, or give this one its own --data-dir", path)
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("cannot lock the data directory %s: %w", path, err)
	}
	d := &dataDir{path: path, lock: lock}
	d.removeHalfWritten()
	return d, nil
}

// removeHalfWritten removes what a crash in the middle of a write left: nobody
// else writes while the lock is held.
func (d *dataDir) removeHalfWritten() {
	for _, pattern := range []string{"*.snapshot.*.tmp", "secret.new-*"} {
		left, _ := filepath.Glob(d.file(pattern)) // fails only for a malformed pattern
		for _, name := range left {
			os.Remove(name)
		}
	}
}

// file returns the path of a file in the directory.
func (d *dataDir) file(name string) string { return filepath.Join(d.path, name) }

// Close gives the directory up.
func (d *dataDir) Close() error { return d.lock.Close() }
