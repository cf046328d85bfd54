package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headcount-live/headcount/snapshot"
)

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := snapshot.Write(path, "leases", func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// What was written comes back once, at every size around a chunk's.
func TestSnapshotIsRestoredOnce(t *testing.T) {
	for _, size := range []int{0, 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 17} {
		path := filepath.Join(t.TempDir(), "leases.snapshot")
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(rand.Uint32())
		}
		write(t, path, data)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v: the file must be its owner's only", info.Mode(), err)
		}
		var got []byte
		read := func(r io.Reader) (err error) {
			got, err = io.ReadAll(r)
			return err
		}
		if ok, err := snapshot.Consume(path, "leases", read); !ok || err != nil {
			t.Fatalf("%d bytes: %v, %v", size, ok, err)
		}
		if !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as %d others", size, len(got))
		}
		if ok, err := snapshot.Consume(path, "leases", read); ok || err != nil {
			t.Errorf("a second start: %v, %v; want no file and no error", ok, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
			t.Errorf("%v is left behind", left)
		}
	}
}

// A file that is damaged anywhere, cut short or not ours is refused by name and
// reason, kept aside, and shown to nobody.
func TestDamagedSnapshotIsKeptAside(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good")
	write(t, good, []byte(strings.Repeat("state ", 50)))
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"empty": {}, "foreign": []byte("PK\x03\x04 something else altogether")}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x20
		files[fmt.Sprintf("byte %d flipped", i)] = damaged
	}
	for n := 0; n < len(whole); n += 13 {
		files[fmt.Sprintf("cut to %d bytes", n)] = whole[:n]
	}
	for name, content := range files {
		path := filepath.Join(t.TempDir(), "leases.snapshot")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := snapshot.Consume(path, "leases", func(io.Reader) error {
			t.Errorf("%s: its content was shown", name)
			return nil
		})
		var damaged *snapshot.Damaged
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), path) {
			t.Fatalf("%s: got %v", name, err)
		}
		if kept, err := os.ReadFile(damaged.Aside); err != nil || !bytes.Equal(kept, content) {
			t.Errorf("%s: not kept aside: %v", name, err)
		}
	}
}

// A snapshot of one kind is not taken for another, nor one whose reader refuses it.
func TestWrongKindAndRefusalAreKeptAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "viewers.snapshot")
	write(t, path, []byte("state"))
	var damaged *snapshot.Damaged
	if _, err := snapshot.Consume(path, "viewers", func(io.Reader) error { return nil }); !errors.As(err, &damaged) {
		t.Errorf("another kind: got %v", err)
	}
	write(t, path, []byte("state"))
	refusal := errors.New("another hash key")
	if _, err := snapshot.Consume(path, "leases", func(io.Reader) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("a refusal: got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a refused snapshot would be tried again")
	}
}

// A writer that fails leaves the file that was there, and nothing beside it.
func TestFailedWriteLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.snapshot")
	write(t, path, []byte("old"))
	full := errors.New("disk full")
	if err := snapshot.Write(path, "leases", func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("%v are left", left)
	}
}

func FuzzConsume(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	write(f, path, []byte("some state"))
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[:20])
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "leases.snapshot")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		ok, err := snapshot.Consume(path, "leases", func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		if ok == (err != nil) {
			t.Errorf("got %v, %v", ok, err)
		}
	})
}
