package memory

import (
	"encoding/json"
	"unsafe"

	"github.com/headcount-live/headcount"
)

// leaseCell is what the engine keeps of a lease beside its entry in the lease
// table; its texts follow it. 64 bytes.
type leaseCell struct {
	account  headcount.AccountHash
	id       headcount.LeaseID
	device   [12]byte // bytes 5-16 of the device's hash, its first four being in id; zero if re-registered
	next     uint32   // the account's next younger lease
	started  int64    // engine time, in milliseconds
	restored uint32   // milliseconds after started when it was last seen before a restart
	meta     uint16   // lengths of the texts
	profile  uint8
	title    uint8
}

// tombCell is a tombstone; the device_meta of who took over follows it.
type tombCell struct {
	account headcount.AccountHash
	id      headcount.LeaseID
	stopped int64 // engine time, in milliseconds
	since   int64 // likewise: its TTL runs from then; the same, but after a restart
	next    uint32
	by      uint16
	reason  headcount.Reason
}

const (
	leaseHead = int(unsafe.Sizeof(leaseCell{}))
	tombHead  = int(unsafe.Sizeof(tombCell{}))
)

func (c *leaseCell) units() int {
	return unitsFor(leaseHead + int(c.meta) + int(c.profile) + int(c.title))
}

func (c *tombCell) units() int { return unitsFor(tombHead + int(c.by)) }

// texts returns the bytes behind a cell's head. They are the cell's own memory.
func (c *leaseCell) texts() (meta, profile, title []byte) {
	m, p, all := int(c.meta), int(c.meta)+int(c.profile), c.allTexts()
	return all[:m], all[m:p], all[p:]
}

func (c *leaseCell) allTexts() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(c), leaseHead)), int(c.meta)+int(c.profile)+int(c.title))
}

func (c *tombCell) text() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(c), tombHead)), int(c.by))
}

// heldBy reports whether the lease is the device's. One that re-registered knows
// only the device bytes of its id.
func (c *leaseCell) heldBy(d headcount.DeviceHash) bool {
	return c.id.Device() == [4]byte(d[:4]) && (c.device == [12]byte(d[4:]) || c.device == [12]byte{})
}

func (c *leaseCell) metadata() headcount.Metadata {
	m, p, t := c.texts()
	return headcount.Metadata{DeviceMeta: string(m), ProfileID: string(p), TitleID: string(t)}
}

// says reports whether the lease holds all that was given in m already.
func (c *leaseCell) says(m *headcount.Metadata) bool {
	meta, profile, title := c.texts()
	return (m.DeviceMeta == "" || m.DeviceMeta == string(meta)) &&
		(m.ProfileID == "" || m.ProfileID == string(profile)) &&
		(m.TitleID == "" || m.TitleID == string(title))
}

func given(text []byte) *string {
	if len(text) == 0 {
		return nil
	}
	s := string(text)
	return &s
}

func rawJSON(text []byte) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	return append(json.RawMessage(nil), text...)
}
