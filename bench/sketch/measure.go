package main

import (
	"math"
	"runtime"
	"time"
)

// result is the best of a contestant's turns, in nanoseconds but for bytes and
// rms, which is in percent.
type result struct {
	insert, estimate, merge, encode, decode float64
	bytes                                   int
	rms                                     float64
}

// hashOf is a good 64-bit hash (the finaliser of SplitMix64) of the i-th viewer
// under a seed.
func hashOf(seed, i int) uint64 {
	h := uint64(seed+1)*0xd1342543de82ef95 + uint64(i)*0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func filled(empty func() counter, seed, n int) counter {
	c := empty()
	for i := range n {
		c.insert(hashOf(seed, i))
	}
	return c
}

// measure takes one turn at n viewers.
func (r *result) measure(c contestant, n int) error {
	best := func(figure *float64, ns float64) {
		if *figure == 0 || ns < *figure {
			*figure = ns
		}
	}
	runtime.GC() // what others left is not this one's to collect
	sets := max(1, 200_000/n)
	start := time.Now()
	for seed := range sets {
		filled(c.empty, seed, n)
	}
	best(&r.insert, float64(time.Since(start).Nanoseconds())/float64(sets*n))

	a, b := filled(c.empty, 1, n), filled(c.empty, 2, n)
	a.estimate() // some put their sparse list in order now
	best(&r.estimate, each(func() { a.estimate() }))
	best(&r.merge, each(func() { a.merge(b) }))
	data, err := a.encode()
	if err != nil {
		return err
	}
	r.bytes = len(data)
	best(&r.encode, each(func() { data, err = a.encode() }))
	if err != nil {
		return err
	}
	into := c.empty()
	best(&r.decode, each(func() { err = into.decode(data) }))
	return err
}

// each returns how long one call takes, over some milliseconds of them.
func each(call func()) float64 {
	start, calls := time.Now(), 0
	for time.Since(start) < 5*time.Millisecond {
		for range 8 {
			call()
		}
		calls += 8
	}
	return float64(time.Since(start).Nanoseconds()) / float64(calls)
}

// errors measures the error at n viewers over several sets of hashes.
func (r *result) errors(c contestant, n, seeds int) {
	sum := 0.0
	for seed := range seeds {
		off := 100 * (filled(c.empty, seed, n).estimate()/float64(n) - 1)
		sum += off * off
	}
	r.rms = math.Sqrt(sum / float64(seeds))
}
