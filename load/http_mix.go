package load

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Kind is one kind of request that the generator sends.
type Kind uint8

// The kinds of requests.
const (
	Play  Kind = iota // POST /v1/streams
	Renew             // PUT /v1/streams/{id}/heartbeat
	Stop              // DELETE /v1/streams/{id}
	List              // GET /v1/accounts/{id}/streams
	Beat              // POST /api/v1/presence/heartbeat
	Leave             // POST /api/v1/presence/leave
	Count             // GET /api/v1/pages/{id}/viewer-count

	kinds = int(Count) + 1
)

// kindNames lists the kinds as a mix spells them.
func kindNames() [kinds]string {
	return [kinds]string{"play", "renew", "stop", "list", "beat", "leave", "count"}
}

// String returns the kind as a mix spells it.
func (k Kind) String() string { return kindNames()[k] }

// Mix says how often each kind is sent, as weights: the share of a kind is its
// weight over the sum of all.
type Mix [kinds]int

// ParseMix reads a mix such as "play=1,renew=20,stop=1". Kinds that are not
// named weigh nothing.
func ParseMix(text string) (m Mix, err error) {
	names := kindNames()
	for part := range strings.SplitSeq(text, ",") {
		name, weight, ok := strings.Cut(part, "=")
		if !ok {
			return m, fmt.Errorf("the mix has %q where KIND=WEIGHT is needed, such as renew=20", part)
		}
		kind := -1
		for i := range names {
			if names[i] == name {
				kind = i
			}
		}
		if kind < 0 {
			return m, fmt.Errorf("the mix names %q; the kinds are %s", name, strings.Join(names[:], ", "))
		}
		w, err := strconv.ParseUint(weight, 10, 16)
		if err != nil {
			return m, fmt.Errorf("the weight of %s in the mix is %q; it must be a whole number from 0 to 65535", name, weight)
		}
		m[kind] = int(w)
	}
	if m.total() == 0 {
		return m, fmt.Errorf("the mix %q weighs nothing; give at least one kind a weight above 0", text)
	}
	return m, nil
}

// String returns the mix as ParseMix reads it.
func (m Mix) String() string {
	var parts []string
	for k, w := range m {
		if w > 0 {
			parts = append(parts, Kind(k).String()+"="+strconv.Itoa(w))
		}
	}
	return strings.Join(parts, ",")
}

// streams reports whether the mix sends requests about streams.
func (m Mix) streams() bool { return m[Play]+m[Renew]+m[Stop]+m[List] > 0 }

// pages reports whether the mix sends requests about pages.
func (m Mix) pages() bool { return m[Beat]+m[Leave]+m[Count] > 0 }

func (m Mix) total() (sum int) {
	for _, w := range m {
		sum += w
	}
	return sum
}

// pick draws a kind.
func (m Mix) pick(random *rand.Rand) Kind {
	n := random.IntN(m.total())
	for k, w := range m {
		if n < w {
			return Kind(k)
		}
		n -= w
	}
	panic("load: weights do not add up to their total")
}
