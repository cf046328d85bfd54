package crowd

import "testing"

// At a cap, whoever fell silent makes room before the next report finds them: for
// a session, and for a page.
func TestNewcomersEvictTheExpired(t *testing.T) {
	const second = 1000
	for _, caps := range []struct{ pages, sessions int }{{1, 10}, {10, 1}} {
		w := newWindow(leastShards, 30*second, caps.pages, caps.sessions) // one table a partition
		old := w.sight(pageID{1, 10}, 100)
		young := w.sight(pageID{2, 20}, 200)
		for _, step := range []struct {
			at   uint32
			who  *sighting
			want outcome
		}{
			{0, &old, added},
			{10 * second, &old, known},
			{39 * second, &young, tooManySessions},
			{41 * second, &young, added},
			{43 * second, &old, tooManySessions},
		} {
			got := w.add(step.who, step.at)
			if got == tooManyPages {
				got = tooManySessions // the same to the newcomer
			}
			if got != step.want {
				t.Errorf("caps %+v, at %d ms: got outcome %d, want %d", caps, step.at, got, step.want)
			}
		}
	}
}
