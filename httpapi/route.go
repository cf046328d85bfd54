package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// route is one line of a routing table. Exactly one of call and stream is set.
type route struct {
	methods string // in the order of the Allow header, GET without its HEAD
	pattern string // {name} matches one segment that is not empty
	limit   int    // bytes of body that are read; 0 where none is
	origins *origins

	call   func(context.Context, *exchange)                    // from bytes to status and bytes
	stream func(http.ResponseWriter, *http.Request, *exchange) // answers by itself, or fails the exchange
	guard  func(*http.Request) error                           // refuses before anything is read
	counts [statusClasses]prometheus.Counter                   // requests by class of status
	timing prometheus.Observer                                 // seconds, sampled
}

// takes reports whether the route answers method.
func (rt *route) takes(method string) bool {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for rest := rt.methods; rest != ""; {
		var m string
		if m, rest, _ = strings.Cut(rest, " "); m == method {
			return true
		}
	}
	return false
}

// node is one segment in the tree of patterns. Literal segments win over {name}.
type node struct {
	segment  string
	literals []*node
	wild     *node
	routes   []*route
	allow    string // methods of routes, for the Allow header
}

// add grows the tree by a route.
func (n *node) add(rt *route) {
	for segment := range strings.SplitSeq(rt.pattern[1:], "/") {
		n = n.child(segment)
	}
	n.routes = append(n.routes, rt)
	for m := range strings.SplitSeq(rt.methods, " ") {
		if n.allow != "" {
			n.allow += ", "
		}
		n.allow += m
		if m == http.MethodGet {
			n.allow += ", HEAD"
		}
	}
}

func (n *node) child(segment string) *node {
	if strings.HasPrefix(segment, "{") {
		if n.wild == nil {
			n.wild = &node{}
		}
		return n.wild
	}
	for _, c := range n.literals {
		if c.segment == segment {
			return c
		}
	}
	c := &node{segment: segment}
	n.literals = append(n.literals, c)
	return c
}

// find returns the node whose patterns match the segments, nil where none does,
// and fills args with what the {name} segments stand for. An id may read like a
// literal, so a literal that leads nowhere is given up for the {name} beside it.
func (n *node) find(segments, args []string) *node {
	if len(segments) == 0 {
		if len(n.routes) == 0 {
			return nil
		}
		return n
	}
	for _, c := range n.literals {
		if c.segment == segments[0] {
			if found := c.find(segments[1:], args); found != nil {
				return found
			}
			break
		}
	}
	if n.wild == nil || segments[0] == "" || len(args) == 0 {
		return nil
	}
	args[0] = segments[0]
	return n.wild.find(segments[1:], args[1:])
}
