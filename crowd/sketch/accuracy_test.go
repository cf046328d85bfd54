package sketch

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the accuracy table into docs/benchmarks-sketch.md")

const (
	report   = "../../docs/benchmarks-sketch.md"
	tableTop = "<!-- accuracy: go test ./crowd/sketch -run Accuracy -update -->\n"
	tableEnd = "<!-- end of accuracy -->\n"
)

// accuracy is how estimates of one size err over many hash seeds, in percent.
type accuracy struct {
	n                     int
	bias, rms, p95, worst float64
}

func accuracyOf(n int, errs []float64) accuracy {
	a := accuracy{n: n}
	var sizes []float64
	for _, e := range errs {
		a.bias += e / float64(len(errs))
		a.rms += e * e / float64(len(errs))
		sizes = append(sizes, math.Abs(e))
	}
	slices.Sort(sizes)
	a.rms = math.Sqrt(a.rms)
	a.p95 = sizes[(len(sizes)*95+99)/100-1] // nearest rank
	a.worst = sizes[len(sizes)-1]
	return a
}

// checkpoints steps from 1 to most with five sizes a factor of ten, and every
// sixteenth of the range where estimators used to switch method and jump.
func checkpoints(most int) []int {
	var at []int
	for decade := 1; decade <= most; decade *= 10 {
		for _, step := range []float64{1, 1.5, 2.5, 4, 6.5} {
			at = append(at, int(math.Round(float64(decade)*step)))
		}
	}
	for n := Registers; n <= 6*Registers; n += Registers / 2 {
		at = append(at, n)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	return slices.DeleteFunc(at, func(n int) bool { return n > most })
}

// sweep grows one sketch a seed and reads it at every checkpoint.
func sweep(seeds, most int) []accuracy {
	at := checkpoints(most)
	errs := make([][]float64, len(at))
	for seed := range seeds {
		s, n := new(Sketch), 0
		for i, size := range at {
			for ; n < size; n++ {
				s.Insert(hashOf(uint64(seed), uint64(n)))
			}
			errs[i] = append(errs[i], 100*(s.Estimate()/float64(size)-1))
		}
	}
	table := make([]accuracy, len(at))
	for i, size := range at {
		table[i] = accuracyOf(size, errs[i])
	}
	return table
}

// fewest is the size from which the server uses sketches, 0.9 of the default
// exact threshold. Far below it two hashes that share a register are rare, but
// one such pair of 20 is an error of 5 % already.
const fewest = 900

// Over 100 hash seeds the estimate errs by at most 1 % root mean square at any
// size from 1 to 1,000,000 and leans to neither side; from the size where it is
// used it errs by at most 2 % at the 95th percentile and 4 % at worst.
func TestAccuracy(t *testing.T) {
	seeds, most := 100, 1_000_000
	if testing.Short() {
		most = 100_000
	}
	table := sweep(seeds, most)
	for _, a := range table {
		if a.rms > 1 || a.n >= fewest && (a.p95 > 2 || a.worst > 4) {
			t.Errorf("%d: rms %.2f %%, p95 %.2f %%, worst %.2f %%; want at most 1, 2, 4", a.n, a.rms, a.p95, a.worst)
		}
		// The mean of 100 estimates wanders by a tenth of the standard error.
		if limit := 4 * 100 * StandardError / math.Sqrt(float64(seeds)); math.Abs(a.bias) > limit {
			t.Errorf("%d: bias %+.2f %%, want within %.2f", a.n, a.bias, limit)
		}
	}
	if *update {
		writeTable(t, table, seeds)
	}
}

func writeTable(t *testing.T, table []accuracy, seeds int) {
	t.Helper()
	doc, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(doc, []byte(tableTop))
	_, after, closed := bytes.Cut(rest, []byte(tableEnd))
	if !found || !closed {
		t.Fatalf("%s has no accuracy section to replace", report)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\nErrors in percent of the true number, over %d hash seeds.\n\n", before, tableTop, seeds)
	b.WriteString("| viewers | bias | rms | p95 | worst |\n|--:|--:|--:|--:|--:|\n")
	for _, a := range table {
		fmt.Fprintf(&b, "| %d | %+.3f | %.3f | %.3f | %.3f |\n", a.n, a.bias, a.rms, a.p95, a.worst)
	}
	fmt.Fprintf(&b, "\n%s%s", tableEnd, after)
	if err := os.WriteFile(report, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
