package load

// population is one worker's model of its viewers: which device holds which
// stream at this moment. Renewals are of live leases and stops of live ones,
// because a slot is out of both queues while a request about it is under way.
//
// A slot is a device of an account; each account has slotsPerAccount of them.
type population struct {
	free, live queue
	streams    [][]byte // stream id by slot, its memory reused by the next one
}

// slotsPerAccount is what the default plan of a server allows at once.
const slotsPerAccount = 2

func newPopulation(accounts int) *population {
	slots := accounts * slotsPerAccount
	p := &population{free: newQueue(slots), live: newQueue(slots), streams: make([][]byte, slots)}
	// First devices before second ones: half full, every account has one stream.
	for device := range slotsPerAccount {
		for account := range accounts {
			p.free.push(uint32(account*slotsPerAccount + device))
		}
	}
	return p
}

// take returns the slot that a request of the kind is about, and the kind itself,
// which changes where nothing fits: nobody live to renew or stop means play, and
// nobody idle to play means that a live device presses play again.
func (p *population) take(k Kind) (Kind, uint32) {
	if k != Play && p.live.len() > 0 {
		return k, p.live.pop()
	}
	if p.free.len() > 0 {
		return Play, p.free.pop()
	}
	return Play, p.live.pop()
}

// settle puts a slot back after the answer to a request about it.
func (p *population) settle(k Kind, slot uint32, status int, streamID []byte) {
	switch {
	case k == Play && status == 200:
		p.streams[slot] = append(p.streams[slot][:0], streamID...)
		p.live.push(slot)
	case k == Play, k == Stop && status == 200, status == 410:
		p.free.push(slot)
	default: // refused, failed or never answered: as far as we know it still plays
		p.live.push(slot)
	}
}

// queue is a ring of slots. First in, first out: whoever was renewed longest ago
// is next, so nobody lapses while others are renewed twice.
type queue struct {
	ring        []uint32
	head, count int
}

func newQueue(capacity int) queue { return queue{ring: make([]uint32, capacity)} }

func (q *queue) len() int { return q.count }

func (q *queue) push(slot uint32) {
	q.ring[(q.head+q.count)%len(q.ring)] = slot
	q.count++
}

func (q *queue) pop() uint32 {
	slot := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.count--
	return slot
}
