// Package crowd counts how many people are on a page.
//
// A viewer is a lease: a session that beats at least once a window is on the
// page, one that is silent for longer is not, and nothing is ever counted up and
// down across nodes. The way of a heartbeat:
//
//	Beat ──> window ──report──> contribution ──store──> merge ──> board ──> Count
//	         exact, on          list or sketch,         union,     last     Reader
//	         this node          absolute                by owner   good
//
// The window knows exactly who is on which page among those that this node hears,
// so expiry and leaving are exact at every size. Sketches exist only in what
// leaves the node. A node that is alone skips the middle: its window is the truth.
//
// The board never blocks a beat, and a beat never becomes a write to the store.
package crowd
