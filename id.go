package headcount

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"sync"
)

// LeaseID is what a store keeps of a stream id: everything but the MAC.
//
//	byte 0      key version: names the secret that signs it
//	bytes 1-4   generation of the shard's memory when it was minted
//	bytes 5-8   first four bytes of the DeviceHash
//	bytes 9-15  random
//
// The device bytes let "one lease per device" hold for leases that re-register
// after the store lost its memory; the generation tells those from lapsed ones.
type LeaseID [16]byte

// Generation returns the generation of the shard's memory at minting time.
func (id LeaseID) Generation() uint32 { return binary.LittleEndian.Uint32(id[1:5]) }

// Device returns the first four bytes of the holder's [DeviceHash].
func (id LeaseID) Device() [4]byte { return [4]byte(id[5:9]) }

const (
	macLen      = 14
	streamIDLen = (len(LeaseID{}) + macLen) * 4 / 3 // 40: no padding, no spare bits
)

var streamIDEncoding = base64.RawURLEncoding.Strict()

// Signer mints lease ids and turns them into stream ids and back. A stream id is
// the base64url text of the lease id and a MAC (HMAC-SHA-256 cut to 14 bytes)
// over it and its account: opaque, 40 characters, unforgeable without a secret.
// It is safe for concurrent use.
type Signer struct {
	keys []signingKey // the first signs, all verify
	rand io.Reader
}

type signingKey struct {
	version byte
	macs    *sync.Pool // of *macState, keyed: Reset is far cheaper than New
}

// MinSecretLen is the least length of a signing secret, in bytes.
const MinSecretLen = 32

// NewSigner returns a Signer over a list of secrets of at least [MinSecretLen]
// bytes: the first signs, all verify. Randomness is read from rand.
func NewSigner(secrets [][]byte, rand io.Reader) (*Signer, error) {
	if len(secrets) == 0 {
		return nil, errors.New("headcount: a signer needs at least one secret")
	}
	s := &Signer{rand: rand}
	for _, secret := range secrets {
		if len(secret) < MinSecretLen {
			return nil, errors.New("headcount: a secret must be at least 32 bytes long; make one with: openssl rand -hex 32")
		}
		sum := sha256.Sum256(append([]byte("headcount key version\x00"), secret...))
		s.keys = append(s.keys, signingKey{
			version: sum[0],
			macs:    &sync.Pool{New: func() any { return &macState{hash: hmac.New(sha256.New, secret)} }},
		})
	}
	return s, nil
}

// Mint returns a new lease id. It fails only if the source of randomness does.
func (s *Signer) Mint(generation uint32, device DeviceHash) (id LeaseID, err error) {
	id[0] = s.keys[0].version
	binary.LittleEndian.PutUint32(id[1:5], generation)
	copy(id[5:9], device[:4])
	_, err = io.ReadFull(s.rand, id[9:])
	return id, err
}

// StreamID returns the text of a lease id for its account. The MAC is made with
// the secret that the id's key version names, the first where none is.
func (s *Signer) StreamID(account string, id LeaseID) string {
	var buf [streamIDLen]byte // keeps the bytes behind the string off the heap
	return string(s.AppendStreamID(buf[:0], account, id))
}

// AppendStreamID appends the text of a lease id for its account to b.
func (s *Signer) AppendStreamID(b []byte, account string, id LeaseID) []byte {
	var raw [len(LeaseID{}) + macLen]byte
	copy(raw[:], id[:])
	key := &s.keys[0]
	for i := range s.keys {
		if s.keys[i].version == id[0] {
			key = &s.keys[i]
			break
		}
	}
	mac := key.mac(account, id)
	copy(raw[len(id):], mac[:])
	return streamIDEncoding.AppendEncode(b, raw[:])
}

// Parse returns the lease id in a stream id, and whether it is genuine: made by
// one of the secrets, for this account, and not altered.
func (s *Signer) Parse(account, streamID string) (id LeaseID, genuine bool) {
	if len(streamID) != streamIDLen {
		return id, false
	}
	var text [streamIDLen]byte
	copy(text[:], streamID)
	var raw [len(LeaseID{}) + macLen]byte
	if n, err := streamIDEncoding.Decode(raw[:], text[:]); err != nil || n != len(raw) {
		return id, false // n: the decoder skips line breaks
	}
	copy(id[:], raw[:])
	for i := range s.keys {
		if s.keys[i].version != id[0] {
			continue
		}
		mac := s.keys[i].mac(account, id)
		if hmac.Equal(mac[:], raw[len(id):]) {
			return id, true
		}
	}
	return LeaseID{}, false
}

// macState keeps a message and its sum off the stack of the caller, where the
// hash interface would make them escape on every call.
type macState struct {
	hash hash.Hash
	buf  []byte
}

func (k *signingKey) mac(account string, id LeaseID) (out [macLen]byte) {
	m := k.macs.Get().(*macState)
	defer k.macs.Put(m)
	m.hash.Reset()
	m.buf = append(append(m.buf[:0], id[:]...), account...)
	m.hash.Write(m.buf)
	m.buf = m.hash.Sum(m.buf[:0])
	copy(out[:], m.buf)
	return out
}
