package headcount_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/headcount-live/headcount"
)

func newSigner(t testing.TB, secrets ...string) *headcount.Signer {
	t.Helper()
	var list [][]byte
	for _, s := range secrets {
		list = append(list, []byte(s))
	}
	s, err := headcount.NewSigner(list, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	secretOne = "the first secret, of 32 bytes or more"
	secretTwo = "the second secret, of 32 bytes or more"
)

// A stream id comes back as it was minted, and only for its own account.
func TestStreamIDBelongsToItsAccount(t *testing.T) {
	s := newSigner(t, secretOne)
	device := headcount.DeviceHash{1, 2, 3, 4, 5}
	id, err := s.Mint(77, device)
	if err != nil {
		t.Fatal(err)
	}
	if id.Generation() != 77 || id.Device() != [4]byte{1, 2, 3, 4} {
		t.Errorf("minted %x: generation %d, device %x", id, id.Generation(), id.Device())
	}
	text := s.StreamID("alice", id)
	if len(text) != 40 {
		t.Errorf("a stream id has 40 characters, got %d", len(text))
	}
	if got, ok := s.Parse("alice", text); !ok || got != id {
		t.Errorf("alice's own id: got %x, %v", got, ok)
	}
	if _, ok := s.Parse("bob", text); ok {
		t.Error("bob was let in with alice's id")
	}
}

// Every altered character makes an id worthless, and no second text means the
// same id.
func TestAlteredStreamIDIsNeverHonoured(t *testing.T) {
	s := newSigner(t, secretOne)
	id, _ := s.Mint(1, headcount.DeviceHash{})
	text := s.StreamID("alice", id)
	for i := range text {
		for _, c := range "Aa0-_=\n+/" {
			if altered := text[:i] + string(c) + text[i+1:]; altered != text {
				if _, ok := s.Parse("alice", altered); ok {
					t.Fatalf("%q was honoured for %q", altered, text)
				}
			}
		}
	}
	for _, odd := range []string{"", "x", text + "A", text[:39], text + "\n", strings.Repeat("\n", 40)} {
		if _, ok := s.Parse("alice", odd); ok {
			t.Errorf("%q was honoured", odd)
		}
	}
}

// A new secret put first signs from then on; ids of the old one go on verifying
// for as long as it is in the list.
func TestSecretRotationCutsNobody(t *testing.T) {
	before, during, after := newSigner(t, secretOne), newSigner(t, secretTwo, secretOne), newSigner(t, secretTwo)
	old, _ := before.Mint(1, headcount.DeviceHash{})
	text := before.StreamID("alice", old)
	if got, ok := during.Parse("alice", text); !ok || got != old {
		t.Error("an id of the old secret was refused during the rotation")
	}
	if during.StreamID("alice", old) != text {
		t.Error("listing an old lease must show the id that its player holds")
	}
	fresh, _ := during.Mint(1, headcount.DeviceHash{})
	if _, ok := after.Parse("alice", during.StreamID("alice", fresh)); !ok {
		t.Error("a new id was not signed with the first secret")
	}
	if _, ok := after.Parse("alice", text); ok {
		t.Error("a retired secret still verifies")
	}
}

// A start with a weak secret fails with a sentence that says what to do.
func TestShortSecretIsRefused(t *testing.T) {
	_, err := headcount.NewSigner([][]byte{[]byte("short")}, rand.Reader)
	if err == nil || !strings.Contains(err.Error(), "openssl rand") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	s := newSigner(f, secretOne, secretTwo)
	id, _ := s.Mint(1, headcount.DeviceHash{})
	f.Add("alice", s.StreamID("alice", id))
	f.Add("", "")
	f.Fuzz(func(t *testing.T, account, text string) {
		if got, ok := s.Parse(account, text); ok && s.StreamID(account, got) != text {
			t.Errorf("%q is a second text of %x", text, got)
		}
	})
}

// The same device with a key, with another key and without one are three devices;
// on two accounts one device is two unrelated hashes.
func TestDeviceIdentity(t *testing.T) {
	h := headcount.NewHasher([]byte("k"))
	a, b := h.Account("alice"), h.Account("bob")
	seen := map[headcount.DeviceHash]string{}
	for name, d := range map[string]headcount.DeviceHash{
		"tv": h.Device(a, "tv", ""), "tv+k1": h.Device(a, "tv", "k1"), "tv+k2": h.Device(a, "tv", "k2"),
		"bob's tv": h.Device(b, "tv", ""), "bob's tv+k1": h.Device(b, "tv", "k1"),
	} {
		if other, dup := seen[d]; dup {
			t.Errorf("%s and %s are the same device", name, other)
		}
		seen[d] = name
	}
	if h.Device(a, "tv", "k1") != h.Device(a, "tv", "k1") {
		t.Error("a device is not itself")
	}
	if bytes.Equal(a[:], b[:]) || headcount.NewHasher([]byte("other")).Account("alice") == a {
		t.Error("hashes do not depend on id and key")
	}
}

func BenchmarkStreamID(b *testing.B) {
	s := newSigner(b, secretOne)
	id, _ := s.Mint(1, headcount.DeviceHash{})
	text := s.StreamID("1234567890", id)
	b.Run("mint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			id, _ := s.Mint(1, headcount.DeviceHash{})
			s.StreamID("1234567890", id)
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Parse("1234567890", text)
		}
	})
}
