package headcount

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// The vectors are those of the reference implementation: key 00..0f, message
// 00, 01, 02 ... of the given length.
func TestSipHash128MatchesTheReference(t *testing.T) {
	key := sipKey{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	msg := make([]byte, 64)
	for i := range msg {
		msg[i] = byte(i)
	}
	for n, want := range map[int]string{
		0:  "a3817f04ba25a8e66df67214c7550293",
		1:  "da87c1d86b99af44347659119b22fc45",
		8:  "3b62a9ba6258f5610f83e264f31497b4",
		15: "5493e99933b0a8117e08ec0f97cfc3d9",
	} {
		a, b := sip128(key, string(msg[:n]))
		var got [16]byte
		binary.LittleEndian.PutUint64(got[:8], a)
		binary.LittleEndian.PutUint64(got[8:], b)
		if hex.EncodeToString(got[:]) != want {
			t.Errorf("%d bytes: got %x, want %s", n, got, want)
		}
	}
}

func BenchmarkSipHash32(b *testing.B) {
	key, s := sipKey{1, 2}, "0123456789abcdef0123456789abcdef"
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		sip128(key, s)
	}
}
