package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openTestDir(t *testing.T, path string) *dataDir {
	t.Helper()
	dir, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// The first start makes a secret that only this user may read; later starts find
// the same one.
func TestSecretIsMadeOnce(t *testing.T) {
	dir := openTestDir(t, t.TempDir())
	first, err := loadSecrets(Secrets{}, dir, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	second, err := loadSecrets(Secrets{}, dir, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 1 || len(first[0]) < 32 || !bytes.Equal(first[0], second[0]) {
		t.Errorf("got %q, then %q, want one secret of 32 bytes or more, twice the same", first, second)
	}
	info, err := os.Stat(dir.file("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %o, want 600", got)
	}
	if entries, _ := os.ReadDir(dir.path); len(entries) != 2 {
		t.Errorf("got %v, want the lock and the secret, and nothing half-written", entries)
	}
}

// A secret that is given wins, and nothing is written.
func TestSecretThatIsGivenIsNotKept(t *testing.T) {
	dir := openTestDir(t, t.TempDir())
	given := []string{strings.Repeat("a", 32), strings.Repeat("b", 32)}
	got, err := loadSecrets(Secrets{Secret: given}, dir, rand.Reader)
	if err != nil || len(got) != 2 || string(got[0]) != given[0] || string(got[1]) != given[1] {
		t.Errorf("got %q, %v, want %q", got, err, given)
	}
	if _, err := os.Stat(dir.file("secret")); err == nil {
		t.Error("a secret was written")
	}
}

// A secret that was cut short is refused by name: going on with another would
// cut every stream.
func TestDamagedSecretIsRefused(t *testing.T) {
	dir := openTestDir(t, t.TempDir())
	if err := os.WriteFile(dir.file("secret"), []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := loadSecrets(Secrets{}, dir, rand.Reader)
	if err == nil || !strings.Contains(err.Error(), dir.file("secret")) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// Putting a new secret first keeps the hash key, so counts and leases stay.
func TestHashKeyComesFromTheLastSecret(t *testing.T) {
	old, fresh := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("f", 32))
	if !bytes.Equal(hashKey("", [][]byte{old}), hashKey("", [][]byte{fresh, old})) {
		t.Error("a new first secret changed the hash key")
	}
	if bytes.Equal(hashKey("", [][]byte{old}), hashKey("", [][]byte{fresh})) {
		t.Error("two secrets share a hash key")
	}
	if got := hashKey("given", [][]byte{old}); string(got) != "given" {
		t.Errorf("got %q, want the key that was given", got)
	}
}

// One server at a time holds a data directory; the next learns what to do.
func TestDataDirIsHeldByOne(t *testing.T) {
	path := t.TempDir()
	first := openTestDir(t, path)
	_, err := openDataDir(path)
	if err == nil || !strings.Contains(err.Error(), "another server") || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("got %v, want an error that names the other server and --data-dir", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openTestDir(t, path)
}

// A crash in the middle of a write leaves nothing for good; what was written
// whole stays.
func TestHalfWrittenFilesAreRemoved(t *testing.T) {
	path := t.TempDir()
	for _, name := range []string{"leases.snapshot.123.tmp", "secret.new-4", "leases.snapshot", "secret"} {
		if err := os.WriteFile(filepath.Join(path, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openTestDir(t, path)
	var got []string
	entries, _ := os.ReadDir(path)
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if want := []string{"leases.snapshot", "lock", "secret"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
