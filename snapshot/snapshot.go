// Package snapshot is the file in which state survives a restart: written whole at
// the end of one process, taken by the next before it serves.
//
// The file is framed so that a damaged or foreign one is recognised before a byte
// of it is believed:
//
//	8 bytes  "headsnap"
//	1 byte   format version
//	1 byte   length of the kind, then the kind
//	chunks   each: 4 bytes length (1 to 1 MiB), 4 bytes CRC-32C of the data, the data
//	end      4 bytes zero, 4 bytes CRC-32C of what follows, 8 bytes total of the data
//
// Numbers are little-endian.
package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"
)

const (
	magic     = "headsnap"
	version   = 1
	chunkSize = 1 << 20
	frameSize = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write writes a snapshot of a kind (at most 255 bytes) to path: what save writes,
// framed. The file appears whole or not at all, readable by its owner only.
func Write(path, kind string, save func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(header(kind)); err != nil {
		return err
	}
	w := &writer{file: f}
	buffered := bufio.NewWriterSize(w, chunkSize)
	if err = save(buffered); err != nil {
		return err
	}
	if err = buffered.Flush(); err != nil {
		return err
	}
	if err = w.end(); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Damaged says why a snapshot was not taken. The file was kept aside.
type Damaged struct {
	Path   string // where it was
	Aside  string // where it is now
	Reason error
}

// Error names the file, the reason and where it is kept.
func (e *Damaged) Error() string {
	return fmt.Sprintf("the snapshot %s cannot be used and is kept as %s: %v", e.Path, e.Aside, e.Reason)
}

// Unwrap returns the reason.
func (e *Damaged) Unwrap() error { return e.Reason }

// Consume gives the content of the snapshot at path to restore and removes the
// file, so that no later start restores it again; it reports whether there was one.
// The whole file is checked before restore sees any of it. One that is damaged, cut
// short or foreign, or that restore refuses, is renamed and reported as [*Damaged];
// what restore took in until then is the caller's to drop.
func Consume(path, kind string, restore func(io.Reader) error) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()

	reason := check(f, kind)
	if reason == nil {
		reason = restore(bufio.NewReaderSize(&reader{file: f}, chunkSize))
	}
	if reason != nil {
		aside := path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000Z")
		if err := os.Rename(path, aside); err != nil {
			return false, errors.Join(reason, err)
		}
		return false, &Damaged{Path: path, Aside: aside, Reason: reason}
	}
	return true, os.Remove(path)
}

// check reads the whole file and leaves the position at the first chunk.
func check(f io.ReadSeeker, kind string) error {
	want := header(kind)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(f, got); err != nil || string(got[:len(magic)]) != magic {
		return fmt.Errorf("it is not a snapshot of %s", kind)
	}
	if got[len(magic)] != version {
		return fmt.Errorf("it has format %d, and this version reads format %d", got[len(magic)], version)
	}
	if string(got) != string(want) {
		return fmt.Errorf("it is a snapshot of something other than %s", kind)
	}
	if _, err := io.Copy(io.Discard, &reader{file: bufio.NewReaderSize(f, chunkSize)}); err != nil {
		return err
	}
	_, err := f.Seek(int64(len(want)), io.SeekStart)
	return err
}

func header(kind string) []byte {
	h := append([]byte(magic), version, byte(len(kind)))
	return append(h, kind...)
}

func frame(data []byte) (f [frameSize]byte) {
	binary.LittleEndian.PutUint32(f[:4], uint32(len(data)))
	binary.LittleEndian.PutUint32(f[4:], crc32.Checksum(data, castagnoli))
	return f
}
