package crowd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/crowd"
)

// Viewers outlive a restart: they are all there, have one full window from then,
// beat as themselves, and are gone if they do not.
func TestRestoredViewersHaveOneWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := start(t, nil)
		for i := range 3000 {
			beat(before, fmt.Sprint("p", i%100), fmt.Sprint("s", i))
		}
		for i := range 5000 {
			beat(before, "large", fmt.Sprint("s", i))
		}
		time.Sleep(20 * time.Second)
		var file bytes.Buffer
		if err := before.WriteSnapshot(&file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // the restart takes long

		after := start(t, func(o *crowd.Options) { o.Partitions = 7 })
		if err := after.Restore(iotest.OneByteReader(&file)); err != nil {
			t.Fatal(err)
		}
		wantCount(t, after, "p42", 30)
		wantCount(t, after, "large", 5000)
		time.Sleep(29 * time.Second)
		wantCount(t, after, "p42", 30)
		beat(after, "p42", "s42") // one of the thirty
		wantCount(t, after, "p42", 30)
		time.Sleep(6 * time.Second)
		wantCount(t, after, "p42", 1)
		wantCount(t, after, "large", 0)
	})
}

// A snapshot that cannot be trusted is refused with the reason, and one that is
// cut short gives what it holds.
func TestRestoreRefusesWhatItCannotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		beat(c, "p", "s")
		var file bytes.Buffer
		if err := c.WriteSnapshot(&file); err != nil {
			t.Fatal(err)
		}
		good := file.Bytes()
		for cut := range good {
			if err := c.Restore(bytes.NewReader(good[:cut])); err == nil {
				t.Errorf("a snapshot cut to %d of %d bytes was taken for whole", cut, len(good))
			}
		}
		newer := append([]byte{good[0] + 1}, good[1:]...)
		if err := c.Restore(bytes.NewReader(newer)); err == nil || !strings.Contains(err.Error(), "format 2") {
			t.Errorf("a newer format: got %v", err)
		}
		stranger := start(t, func(o *crowd.Options) { o.Hasher = headcount.NewHasher([]byte("another")) })
		if err := stranger.Restore(bytes.NewReader(good)); err == nil || !strings.Contains(err.Error(), "another hash key") {
			t.Errorf("another hash key: got %v", err)
		}
	})
}

// What the disk says when it is full reaches the caller.
func TestSnapshotReportsWriteErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		for i := range 100_000 {
			beat(c, "p", fmt.Sprint("s", i))
		}
		full := errors.New("the disk is full")
		if err := c.WriteSnapshot(&shortWriter{left: 300_000, err: full}); !errors.Is(err, full) {
			t.Errorf("got %v, want %v", err, full)
		}
	})
}

type shortWriter struct {
	left int
	err  error
}

func (w *shortWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, w.err
	}
	return len(p), nil
}

// No input makes a restore panic, take memory beyond the caps, or run on.
func FuzzRestore(f *testing.F) {
	hasher := headcount.NewHasher([]byte("key"))
	newCrowd := func(tb testing.TB) *crowd.Crowd {
		tb.Helper()
		c, err := crowd.New(crowd.Options{Store: sharedCounts(), Hasher: hasher, MaxPages: 10, MaxSessions: 100})
		if err != nil {
			tb.Fatal(err)
		}
		return c
	}
	c := newCrowd(f)
	for i := range 20 {
		beat(c, fmt.Sprint("p", i%3), fmt.Sprint("s", i))
	}
	var file bytes.Buffer
	if err := c.WriteSnapshot(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:9])
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newCrowd(t)
		in := bytes.NewReader(data)
		err := c.Restore(in)
		if stats := c.Stats(); stats.Pages > 10 || stats.Sessions > 100 {
			t.Errorf("the caps did not hold: %+v", stats)
		}
		if err == nil {
			if err := c.WriteSnapshot(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
