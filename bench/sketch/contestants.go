package main

import (
	"encoding/binary"

	axiom "github.com/axiomhq/hyperloglog"
	"github.com/retailnext/hllpp"

	"github.com/headcount-live/headcount/crowd/sketch"
)

// counter is what all contestants can do. All have 2^14 registers.
type counter interface {
	insert(hash uint64)
	estimate() float64
	merge(other counter) // into a copy, which is thrown away
	encode() ([]byte, error)
	decode(data []byte) error
}

// contestant is one library in one mode.
type contestant struct {
	name  string
	empty func() counter
}

// contestants begin with ours.
func contestants() []contestant {
	return []contestant{
		{"headcount", func() counter { return new(ours) }},
		{"axiomhq/hyperloglog", func() counter { return &axiomhq{axiom.New14()} }},
		{"axiomhq/hyperloglog, dense", func() counter { return &axiomhq{axiom.NewNoSparse()} }},
		{"retailnext/hllpp", func() counter { return &retailnext{hllpp.New()} }},
	}
}

type ours struct{ sketch.Sketch }

func (o *ours) insert(hash uint64)       { o.Insert(hash) }
func (o *ours) estimate() float64        { return o.Estimate() }
func (o *ours) merge(other counter)      { o.Clone().Merge(&other.(*ours).Sketch) }
func (o *ours) encode() ([]byte, error)  { return o.AppendBinary(nil) }
func (o *ours) decode(data []byte) error { return o.UnmarshalBinary(data) }

type axiomhq struct{ *axiom.Sketch }

func (a *axiomhq) insert(hash uint64)       { a.InsertHash(hash) }
func (a *axiomhq) estimate() float64        { return float64(a.Estimate()) }
func (a *axiomhq) encode() ([]byte, error)  { return a.MarshalBinary() }
func (a *axiomhq) decode(data []byte) error { return a.UnmarshalBinary(data) }

func (a *axiomhq) merge(other counter) {
	if err := a.Clone().Merge(other.(*axiomhq).Sketch); err != nil {
		panic(err) // equal precisions always merge
	}
}

// retailnext hashes what it is given once more, which is part of its insert.
type retailnext struct{ *hllpp.HLLPP }

func (r *retailnext) insert(hash uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], hash)
	r.Add(b[:])
}

func (r *retailnext) estimate() float64       { return float64(r.Count()) }
func (r *retailnext) encode() ([]byte, error) { return r.Marshal(), nil }

func (r *retailnext) merge(other counter) {
	c := hllpp.New() // it has no way to copy
	for _, from := range []*hllpp.HLLPP{r.HLLPP, other.(*retailnext).HLLPP} {
		if err := c.Merge(from); err != nil {
			panic(err) // equal precisions always merge
		}
	}
}

func (r *retailnext) decode(data []byte) (err error) {
	r.HLLPP, err = hllpp.Unmarshal(data)
	return err
}
