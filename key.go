package headcount

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// AccountHash is the keyed hash of an account id. Stores know accounts only by
// it: it has one size, no odd characters, and says nothing about the account.
type AccountHash [16]byte

// DeviceHash is the keyed hash of a device's identity on one account: its
// device_id together with its device_key, or without one. Its first four bytes
// travel in the device's lease ids.
type DeviceHash [16]byte

// Hasher turns ids into keyed hashes: SipHash-2-4 with 128 bits of output for
// accounts and devices, with 64 bits for sessions and pages. Nodes and regions
// that share a store need the same key. It is safe for concurrent use.
type Hasher struct {
	account, device, session, page sipKey
}

// NewHasher derives the keys of a Hasher from a secret of any length. The four
// kinds of id have keys of their own, so equal strings of two kinds are unrelated.
func NewHasher(secret []byte) *Hasher {
	return &Hasher{
		account: deriveSipKey(secret, "headcount account hash"),
		device:  deriveSipKey(secret, "headcount device hash"),
		session: deriveSipKey(secret, "headcount session hash"),
		page:    deriveSipKey(secret, "headcount page hash"),
	}
}

// Account hashes an account id.
func (h *Hasher) Account(id string) AccountHash {
	a, b := sip128(h.account, id)
	return AccountHash(pair(a, b))
}

// Device hashes a device's identity on an account. A device with a key is
// another device than the same id without one; the empty key means none.
func (h *Hasher) Device(account AccountHash, id, key string) DeviceHash {
	k := sipKey{ // a key of its own per account: one device on two accounts is not linkable
		h.device[0] ^ binary.LittleEndian.Uint64(account[:8]),
		h.device[1] ^ binary.LittleEndian.Uint64(account[8:]),
	}
	a, b := sip128(k, id)
	if key != "" {
		a, b = sip128(sipKey{k[0] ^ a, k[1] ^ b}, key)
	}
	return DeviceHash(pair(a, b))
}

// Session hashes a session id to the 64 bits that sketches and lists hold.
func (h *Hasher) Session(id string) uint64 {
	a, _ := sip128(h.session, id)
	return a
}

// Page hashes a page id to 128 bits.
func (h *Hasher) Page(id string) (uint64, uint64) { return sip128(h.page, id) }

// Fingerprint names the key without revealing it, so that two nodes can tell
// that theirs differ.
func (h *Hasher) Fingerprint() uint64 {
	a, b := sip128(h.account, "headcount key fingerprint")
	return a ^ b
}

func pair(a, b uint64) (out [16]byte) {
	binary.LittleEndian.PutUint64(out[:8], a)
	binary.LittleEndian.PutUint64(out[8:], b)
	return out
}

func deriveSipKey(secret []byte, label string) sipKey {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(label))
	sum := m.Sum(nil)
	return sipKey{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}
