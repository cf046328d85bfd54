package sketch

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The binary form is the histogram of the registers, and then the registers in
// order, entropy coded with exactly that histogram as the model (range variant
// of asymmetric numeral systems, Jarek Duda 2013, renormalised by bytes as in
// Fabian Giesen's ryg_rans). The histogram sums to 2^14, which is what the coder
// asks of its frequencies, so nothing is rounded and the size is the entropy of
// the registers: 0.9 KB at 1,000 hashes, 2.5 KB at 4,000 and never above 6 KB,
// where packing to 6 bits takes 12 KB at any size. One form serves all sizes, and
// equal sketches have equal bytes.
//
//	byte            largest value
//	uvarint each    how many registers hold 0, 1, ... up to it
//	4 bytes twice   final states of two coders, little endian
//	bytes           the coders' stream, in the order a decoder reads
//
// One coder has the even registers and one the odd ones, so that a processor can
// work on both at once. A state stays in [stateLow, stateHigh) between registers.
const (
	stateLow   = 1 << 23
	stateHigh  = stateLow << 8
	stateScale = stateHigh >> Precision // times its count: what a state must be below to take a value in
)

var errMalformed = errors.New("sketch: malformed encoding: it was cut or altered, or is no sketch")

// model is the histogram that a sketch is encoded with. Tables have 64 places, so
// that a value with its upper bits cut needs no bounds check.
type model struct {
	counts, starts [64]uint32
	valueAt        [Registers]uint8 // for decoding: the value that owns each slot of the range
}

const valueMask = 63

// AppendBinary appends the binary form of the sketch to b. It never fails.
func (s *Sketch) AppendBinary(b []byte) ([]byte, error) {
	top := maxValue
	for top > 0 && s.count[top] == 0 {
		top--
	}
	var m model
	sum := uint32(0)
	b = append(b, byte(top))
	for v := range top + 1 {
		m.counts[v], m.starts[v] = uint32(s.count[v]), sum
		if v == 0 {
			m.counts[v] += Registers
		}
		sum += m.counts[v]
		b = binary.AppendUvarint(b, uint64(m.counts[v]))
	}
	return s.encode(&m, b), nil
}

// encode appends the coders' stream. A coder is a stack: registers go in last
// first, and the bytes are appended backwards and turned at the end.
func (s *Sketch) encode(m *model, b []byte) []byte {
	even, odd, from := uint32(stateLow), uint32(stateLow), len(b)
	for i := Registers - 2; i >= 0; i -= 2 {
		v, w := s.registers[i]&valueMask, s.registers[i+1]&valueMask
		n, start := m.counts[w], m.starts[w]
		for ; odd >= n*stateScale; odd >>= 8 {
			b = append(b, byte(odd))
		}
		odd = odd/n<<Precision + odd%n + start
		n, start = m.counts[v], m.starts[v]
		for ; even >= n*stateScale; even >>= 8 {
			b = append(b, byte(even))
		}
		even = even/n<<Precision + even%n + start
	}
	b = binary.BigEndian.AppendUint32(b, odd)
	b = binary.BigEndian.AppendUint32(b, even)
	slices.Reverse(b[from:])
	return b
}

// UnmarshalBinary makes s the sketch whose binary form is data, all of it. It
// trusts nothing: any other input is an error, and leaves s empty.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	s.Reset()
	var m model
	rest, ok := m.read(data)
	if !ok || !s.decode(&m, rest) {
		s.Reset()
		return errMalformed
	}
	return nil
}

// read takes the histogram off data and returns what follows it.
func (m *model) read(data []byte) (rest []byte, ok bool) {
	if len(data) == 0 || data[0] > maxValue {
		return nil, false
	}
	top := int(data[0])
	data = data[1:]
	sum := uint32(0)
	for v := range top + 1 {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(Registers-sum) || size > 1 && data[size-1] == 0 {
			return nil, false
		}
		data = data[size:]
		m.counts[v], m.starts[v] = uint32(n), sum
		fill(m.valueAt[sum:][:n], uint8(v))
		sum += uint32(n)
	}
	return data, sum == Registers && m.counts[top] > 0
}

// fill sets all of b to v, by copying what is set already.
func fill(b []byte, v byte) {
	if len(b) == 0 {
		return
	}
	b[0] = v
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// decode fills s from the coders' stream, and reports whether the stream is
// whole: it ends where the encoder began, and holds as many registers of each
// value as the histogram says.
func (s *Sketch) decode(m *model, data []byte) bool {
	if len(data) < 8 {
		return false
	}
	even, odd := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	data = data[8:]
	if even < stateLow || even >= stateHigh || odd < stateLow || odd >= stateHigh {
		return false
	}
	for i := 0; i < Registers; i += 2 {
		slot, other := even%Registers, odd%Registers
		v, w := m.valueAt[slot]&valueMask, m.valueAt[other]&valueMask
		s.registers[i], s.registers[i+1] = v, w
		even = m.counts[v]*(even>>Precision) + slot - m.starts[v]
		odd = m.counts[w]*(odd>>Precision) + other - m.starts[w]
		for even < stateLow {
			if len(data) == 0 {
				return false
			}
			even, data = even<<8|uint32(data[0]), data[1:]
		}
		for odd < stateLow {
			if len(data) == 0 {
				return false
			}
			odd, data = odd<<8|uint32(data[0]), data[1:]
		}
	}
	s.recount()
	for v, n := range m.counts[:values] {
		if uint32(s.count[v]+registersOf(v)) != n {
			return false
		}
	}
	return even == stateLow && odd == stateLow && len(data) == 0
}

// registersOf returns what count leaves out of the registers that hold v.
func registersOf(v int) int32 {
	if v == 0 {
		return Registers
	}
	return 0
}

// recount makes the histogram that of the registers. It counts in four tables by
// turns: one would wait for itself, for most neighbours are equal.
func (s *Sketch) recount() {
	var seen [4][valueMask + 1]int32
	for i := 0; i < Registers; i += 4 {
		r := s.registers[i : i+4 : i+4]
		seen[0][r[0]&valueMask]++
		seen[1][r[1]&valueMask]++
		seen[2][r[2]&valueMask]++
		seen[3][r[3]&valueMask]++
	}
	for v := range s.count {
		s.count[v] = seen[0][v] + seen[1][v] + seen[2][v] + seen[3][v] - registersOf(v)
	}
}
