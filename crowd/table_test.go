package crowd

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/headcount-live/headcount/slab"
)

// checkTable holds a table against the sorted array with gaps that it must be.
func checkTable(t rapid.TB, table *table, want map[uint64]entry) {
	t.Helper()
	if table.n != len(want) {
		t.Fatalf("the table says it has %d entries, want %d", table.n, len(want))
	}
	seen, last := 0, -1
	for i := range table.slots() {
		e := *table.at(i)
		if e.tag == 0 {
			continue
		}
		seen++
		if e != want[e.tag] {
			t.Fatalf("slot %d holds %+v, want %+v", i, e, want[e.tag])
		}
		if place := max(table.home(e.tag), last+1); i != place {
			t.Fatalf("tag %x lies at slot %d, want %d", e.tag, i, place)
		}
		last = i
	}
	if seen != len(want) {
		t.Fatalf("%d entries found, want %d", seen, len(want))
	}
	if n := table.slots(); n > 0 && table.at(n-1).tag != 0 {
		t.Fatal("the last slot is taken")
	}
}

// Whatever is inserted, removed, swept and resized, in whatever order, the table
// holds what a map would hold, each entry at the one place that is its own. Tags
// are drawn from few values too, so that runs are long.
func TestTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := table{pool: slab.New[block]()}
		want := map[uint64]entry{}
		tags := rapid.OneOf(
			rapid.Uint64Range(1, 1<<64-1),
			rapid.Uint64Range(1, 400),             // all at home in the first slot
			rapid.Uint64Range(1<<64-400, 1<<64-1), // all in the last
		)
		now := uint32(1<<32 - 50) // the clock wraps on the way
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				for _, tag := range rapid.SliceOfN(tags, 0, 400).Draw(t, "tags") {
					if _, ok := want[tag]; ok {
						continue
					}
					e := entry{tag: tag, page: uint32(tag * 7), seen: now}
					table.insert(e)
					want[tag] = e
				}
			},
			"remove": func(t *rapid.T) {
				tag := tags.Draw(t, "tag")
				e, there := want[tag]
				page, ok := table.remove(tag)
				if ok != there || page != e.page {
					t.Fatalf("remove(%x) = %d, %v; want %d, %v", tag, page, ok, e.page, there)
				}
				delete(want, tag)
			},
			"renew": func(t *rapid.T) {
				tag := tags.Draw(t, "tag")
				e := table.find(tag)
				if _, there := want[tag]; (e != nil) != there {
					t.Fatalf("find(%x) = %v, want %v", tag, e, there)
				}
				if e != nil {
					e.seen = now
					want[tag] = *e
				}
			},
			"sweep": func(t *rapid.T) {
				now += rapid.Uint32Range(0, 30).Draw(t, "ms")
				limit := rapid.IntRange(1, 2000).Draw(t, "limit")
				var gone, wantGone []uint32
				for from := 0; ; {
					if from, gone = table.sweep(from, limit, now, 50, gone); from == 0 {
						break
					}
				}
				for tag, e := range want {
					if now-e.seen >= 50 {
						wantGone = append(wantGone, e.page)
						delete(want, tag)
					}
				}
				slices.Sort(gone)
				slices.Sort(wantGone)
				if !slices.Equal(gone, wantGone) {
					t.Fatalf("sweep dropped pages %v, want %v", gone, wantGone)
				}
			},
			"fit": func(*rapid.T) { table.fit() },
			"":    func(t *rapid.T) { checkTable(t, &table, want) },
		})
	})
}

// A table of uniform tags is never less than two thirds full once it has a few
// blocks, grows by a quarter, and shrinks again when its entries are gone.
func TestTableStaysTight(t *testing.T) {
	table := table{pool: slab.New[block]()}
	random := rand.New(rand.NewPCG(1, 2))
	tags := make([]uint64, 50_000)
	for i := range tags {
		tags[i] = random.Uint64()
		table.insert(entry{tag: tags[i]})
		if n := i + 1; n > 5000 && n*100 < table.slots()*66 {
			t.Fatalf("%d entries in %d slots", n, table.slots())
		}
	}
	for _, tag := range tags[100:] {
		table.remove(tag)
	}
	table.fit()
	if got := len(table.blocks); got > 2 {
		t.Errorf("100 entries left in %d blocks", got)
	}
	for _, tag := range tags[:100] {
		if table.find(tag) == nil {
			t.Fatalf("tag %x was lost on the way down", tag)
		}
		table.remove(tag)
	}
	table.fit()
	if got := table.slots(); got != 0 {
		t.Errorf("an empty table keeps %d slots", got)
	}
}
