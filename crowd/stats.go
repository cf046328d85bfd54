package crowd

import "time"

// Stats is the size of a Crowd at a moment.
type Stats struct {
	Sessions    int64         // viewers this node hears
	Pages       int64         // pages they are on
	WindowBytes int64         // memory of the window's tables
	Readers     int64         // subscribed
	LastReport  time.Duration // what the last whole report took
}

// Stats returns the size of the Crowd. It takes a microsecond or two.
func (c *Crowd) Stats() Stats {
	return Stats{
		Sessions:    c.window.sessions.Load(),
		Pages:       c.window.pages.Load(),
		WindowBytes: c.window.bytes(),
		Readers:     c.readers.Load(),
		LastReport:  time.Duration(c.lastReport.Load()),
	}
}
