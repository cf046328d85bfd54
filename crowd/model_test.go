package crowd

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/memory"
)

// model is the window as one would write it down: who was seen when on which page.
type model struct {
	now  time.Time
	seen map[string]map[string]time.Time
}

func (m *model) live(page string, window time.Duration) (n int64) {
	for _, at := range m.seen[page] {
		if m.now.Sub(at) < window {
			n++
		}
	}
	return n
}

// Under any order of beats, leaves, time and reports, a page's count is after each
// report what the model says, and before it at least that and at most what it was
// plus the newcomers: nobody is lost, and nobody stays.
func TestCrowdAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{now: time.Unix(1_700_000_000, 0), seen: map[string]map[string]time.Time{}}
		const window = 30 * time.Second
		c, err := New(Options{
			Store:  memory.NewCounts(6*time.Second, func() time.Time { return m.now }),
			Hasher: headcount.NewHasher([]byte("key")),
			Window: window,
			Now:    func() time.Time { return m.now },

			StaleAfter: time.Hour, // reports come when rapid draws them
		})
		if err != nil {
			t.Fatal(err)
		}
		report := func() {
			if err := c.pass(t.Context(), true); err != nil {
				t.Fatal(err)
			}
		}
		report()
		pages := rapid.SampledFrom([]string{"a", "b", "c"})
		sessions := rapid.Map(rapid.IntRange(0, 40), func(i int) string { return fmt.Sprint("s", i) })
		check := func(t *rapid.T, exact bool) {
			for _, page := range []string{"a", "b", "c"} {
				got, want := c.Count(t.Context(), page), m.live(page, window)
				if got.Degraded || got.Approx || got.Count < want || exact && got.Count != want {
					t.Fatalf("page %s: got %+v, want %d", page, got, want)
				}
				if most := int64(len(m.seen[page])); got.Count > most {
					t.Fatalf("page %s: %d viewers, only %d were ever there", page, got.Count, most)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"beat": func(t *rapid.T) {
				page, session := pages.Draw(t, "page"), sessions.Draw(t, "session")
				if !c.Beat(page, session, Visitor{}) {
					t.Fatal("a beat was turned away")
				}
				if m.seen[page] == nil {
					m.seen[page] = map[string]time.Time{}
				}
				m.seen[page][session] = m.now
			},
			"leave": func(t *rapid.T) {
				page, session := pages.Draw(t, "page"), sessions.Draw(t, "session")
				c.Leave(page, session)
				delete(m.seen[page], session)
			},
			"wait": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 4999).Draw(t, "ms")) * time.Millisecond)
				c.clock.millis() // as Run does every second
			},
			"report": func(t *rapid.T) {
				report()
				check(t, true)
			},
			"": func(t *rapid.T) { check(t, false) },
		})
	})
}
