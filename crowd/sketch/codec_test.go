package sketch

import (
	"bytes"
	"testing"
)

func encode(tb testing.TB, s *Sketch) []byte {
	tb.Helper()
	b, err := s.AppendBinary(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// What was encoded is decoded as it was, within the size that the ADR promises.
func TestCodecRoundTrip(t *testing.T) {
	for _, tt := range []struct{ n, maxSize int }{
		{0, 14}, {1, 16}, {10, 50}, {100, 180}, {1000, 1000}, {4000, 2600},
		{10_000, 4300}, {100_000, 6000}, {1_000_000, 6000},
	} {
		s := filled(7, tt.n)
		b := encode(t, s)
		t.Logf("%d hashes: %d bytes", tt.n, len(b))
		if len(b) > tt.maxSize {
			t.Errorf("%d hashes take %d bytes, want at most %d", tt.n, len(b), tt.maxSize)
		}
		got := filled(8, 3) // decoding replaces what was there
		if err := got.UnmarshalBinary(b); err != nil || *got != *s {
			t.Errorf("%d hashes: decoding gave another sketch (error %v)", tt.n, err)
		}
	}
}

// AppendBinary keeps what the buffer held before.
func TestAppendBinaryAppends(t *testing.T) {
	s := filled(1, 2000)
	b, err := s.AppendBinary([]byte("before"))
	if err != nil || !bytes.Equal(b, append([]byte("before"), encode(t, s)...)) {
		t.Errorf("AppendBinary must only append (error %v)", err)
	}
}

// An encoding that was cut, lengthened or altered in any byte is refused, or is
// the encoding of another sketch; it never passes for the same one.
func TestDecoderIsStrict(t *testing.T) {
	s := filled(3, 1500)
	whole := encode(t, s)
	got := new(Sketch)
	for cut := range whole {
		if err := got.UnmarshalBinary(whole[:cut]); err == nil {
			t.Fatalf("cut to %d of %d bytes: accepted", cut, len(whole))
		}
		if !got.Empty() {
			t.Fatal("a refused encoding must leave the sketch empty")
		}
	}
	if err := got.UnmarshalBinary(append(bytes.Clone(whole), 0)); err == nil {
		t.Error("with a byte after the end: accepted")
	}
	for i := range whole {
		altered := bytes.Clone(whole)
		altered[i] ^= 0x10
		if err := got.UnmarshalBinary(altered); err == nil && *got == *s {
			t.Errorf("byte %d altered: decoded to the same sketch", i)
		}
	}
}

// Whatever the decoder accepts is exactly what the encoder would write, so no
// input gives a sketch in an impossible state.
func FuzzUnmarshalBinary(f *testing.F) {
	for _, n := range []int{0, 1, 2, 50, 3000} {
		b, _ := filled(5, n).AppendBinary(nil)
		f.Add(b)
	}
	f.Add([]byte{35, 0})
	f.Add([]byte{0, 0x80, 0x80, 0x81, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(Sketch)
		if s.UnmarshalBinary(data) != nil {
			return
		}
		checkHistogram(t, s)
		if got := encode(t, s); !bytes.Equal(got, data) {
			t.Errorf("accepted %x, which encodes as %x", data, got)
		}
	})
}
