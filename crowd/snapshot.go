package crowd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The viewers of a node, as a restart restores them:
//
//	byte       format version
//	8 bytes    fingerprint of the hash key, little endian
//	pages      each: uvarint number of sessions, 16 bytes page hash, 8 bytes each session
//	0          the end
//
// Last-seen times are not in it: whoever was there gets one full window from the
// moment of the restore, for the time in between was our fault.
const viewersVersion = 1

// pageSpread is how many pages lie between one that is written and the next. Pages in
// the order of the index would come back sorted, and crowd the front of an index that
// grows while they do, until every look-up runs through all of them.
const pageSpread = 251

// WriteSnapshot writes all viewers to w, partition by partition, while beats go
// on. A write error comes back as it is.
func (c *Crowd) WriteSnapshot(w io.Writer) error {
	out := bufio.NewWriterSize(w, 256<<10)
	head := append([]byte{viewersVersion}, make([]byte, 8)...)
	binary.LittleEndian.PutUint64(head[1:], c.opts.Hasher.Fingerprint())
	if _, err := out.Write(head); err != nil {
		return err
	}
	v := newView(c.window)
	var buf []byte
	for p := range c.window.parts {
		v.load(p)
		for first := range pageSpread {
			for i := first; i < len(v.pages); i += pageSpread {
				page := v.pages[i]
				sessions := v.sessions[page.start:page.end]
				buf = binary.AppendUvarint(buf[:0], uint64(len(sessions)))
				buf = binary.LittleEndian.AppendUint64(buf, uint64(page.id.key))
				buf = binary.LittleEndian.AppendUint64(buf, page.id.salt)
				for _, s := range sessions {
					buf = binary.LittleEndian.AppendUint64(buf, s)
				}
				if _, err := out.Write(buf); err != nil {
					return err
				}
			}
		}
	}
	if err := out.WriteByte(0); err != nil {
		return err
	}
	return out.Flush()
}

// errViewers means that a snapshot is not what WriteSnapshot wrote.
var errViewers = errors.New("crowd: the snapshot of viewers is malformed")

// Restore takes in the viewers of a snapshot, with one full window from now for
// each, beside those that are there already; beyond the caps it drops them. It
// fails where the snapshot is malformed or of another hash key, and keeps what it
// read until then.
func (c *Crowd) Restore(r io.Reader) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var head [9]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return fmt.Errorf("%w: %w", errViewers, err)
	}
	if head[0] != viewersVersion {
		return fmt.Errorf("crowd: the snapshot of viewers has format %d; this version reads format %d", head[0], viewersVersion)
	}
	if binary.LittleEndian.Uint64(head[1:]) != c.opts.Hasher.Fingerprint() {
		return errors.New("crowd: the snapshot of viewers was written under another hash key, so nobody in it can be recognised")
	}
	now := c.clock.millis()
	for {
		sessions, err := binary.ReadUvarint(in)
		if err != nil {
			return fmt.Errorf("%w: %w", errViewers, err)
		}
		if sessions == 0 {
			return nil
		}
		if err := c.restorePage(in, sessions, now); err != nil {
			return fmt.Errorf("%w: %w", errViewers, err)
		}
	}
}

func (c *Crowd) restorePage(in io.Reader, sessions uint64, now uint32) error {
	var b [16]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return err
	}
	id := pageID{PageKey(binary.LittleEndian.Uint64(b[:8])), binary.LittleEndian.Uint64(b[8:])}
	for range sessions {
		if _, err := io.ReadFull(in, b[:8]); err != nil {
			return err
		}
		s := c.window.sight(id, binary.LittleEndian.Uint64(b[:8]))
		c.window.add(&s, now)
	}
	return nil
}
