package snapshot

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

var (
	errShort = errors.New("it ends before its end mark; it was cut short")
	errSum   = errors.New("its checksum does not match; it was damaged")
)

// writer turns what is written to it into chunks.
type writer struct {
	file  io.Writer
	total uint64
}

func (w *writer) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		data := p[:min(len(p), chunkSize)]
		f := frame(data)
		if _, err := w.file.Write(f[:]); err != nil {
			return written, err
		}
		if _, err := w.file.Write(data); err != nil {
			return written, err
		}
		written += len(data)
		w.total += uint64(len(data))
		p = p[len(data):]
	}
	return written, nil
}

func (w *writer) end() error {
	var total [8]byte
	binary.LittleEndian.PutUint64(total[:], w.total)
	f := frame(total[:])
	clear(f[:4]) // a chunk of no bytes: the end
	if _, err := w.file.Write(f[:]); err != nil {
		return err
	}
	_, err := w.file.Write(total[:])
	return err
}

// reader returns the data of the chunks and io.EOF only at a good end mark.
type reader struct {
	file  io.Reader
	chunk []byte // of the current chunk, what is still to be returned
	buf   []byte
	total uint64
	err   error
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 && r.err == nil {
		r.next()
	}
	if len(r.chunk) == 0 {
		return 0, r.err
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func (r *reader) next() {
	var f [frameSize]byte
	if _, r.err = io.ReadFull(r.file, f[:]); r.err != nil {
		r.err = errShort
		return
	}
	size, sum := binary.LittleEndian.Uint32(f[:4]), binary.LittleEndian.Uint32(f[4:])
	if size > chunkSize {
		r.err = errSum
		return
	}
	if r.buf == nil {
		r.buf = make([]byte, chunkSize)
	}
	last := size == 0
	if last {
		size = 8
	}
	data := r.buf[:size]
	if _, r.err = io.ReadFull(r.file, data); r.err != nil {
		r.err = errShort
		return
	}
	switch {
	case crc32.Checksum(data, castagnoli) != sum:
		r.err = errSum
	case !last:
		r.chunk = data
		r.total += uint64(size)
	case binary.LittleEndian.Uint64(data) != r.total:
		r.err = errSum
	default:
		r.err = io.EOF
	}
}
