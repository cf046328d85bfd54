// Command sketch measures headcount's HyperLogLog beside the libraries that could
// have stood in its place, all in one process and turn by turn, and prints a
// table of times, sizes and errors, with rivals as multiples of ours.
//
//	cd bench && go run ./sketch           prints the tables
//	cd bench && go run ./sketch -write    puts them into ../docs/benchmarks-sketch.md
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	report   = "../docs/benchmarks-sketch.md"
	tableTop = "<!-- rivals: cd bench && go run ./sketch -write -->\n"
	tableEnd = "<!-- end of rivals -->\n"
)

func main() {
	write := flag.Bool("write", false, "put the tables into "+report)
	rounds := flag.Int("rounds", 7, "turns of each contestant, of which the fastest counts")
	seeds := flag.Int("seeds", 50, "sets of hashes behind each error")
	flag.Parse()
	if err := run(os.Stdout, *write, *rounds, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "sketch:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, write bool, rounds, seeds int) error {
	var tables strings.Builder
	all := contestants()
	for _, n := range []int{1000, 5000, 100_000, 1_000_000} {
		results := make([]result, len(all))
		for range rounds {
			for i, c := range all {
				if err := results[i].measure(c, n); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		for i, c := range all {
			results[i].errors(c, n, min(seeds, 20_000_000/n))
		}
		tables.WriteString(table(n, all, results))
	}
	if !write {
		_, err := io.WriteString(stdout, tables.String())
		return err
	}
	return replace(tables.String())
}

func table(n int, all []contestant, results []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d viewers:\n\n| | insert ns | estimate µs | clone and merge µs | encode µs | decode µs | encoded bytes | rms error %% |\n", n)
	b.WriteString("|:--|--:|--:|--:|--:|--:|--:|--:|\n")
	ours := results[0]
	for i, r := range results {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %.2f |\n", all[i].name,
			against(r.insert, ours.insert, "%.1f"), against(r.estimate/1000, ours.estimate/1000, "%.2f"),
			against(r.merge/1000, ours.merge/1000, "%.1f"), against(r.encode/1000, ours.encode/1000, "%.0f"),
			against(r.decode/1000, ours.decode/1000, "%.0f"), against(float64(r.bytes), float64(ours.bytes), "%.0f"), r.rms)
	}
	return b.String()
}

// against writes a figure, and behind it how many times ours it is.
func against(figure, ours float64, format string) string {
	text := fmt.Sprintf(format, figure)
	if figure == ours {
		return text
	}
	if ratio := figure / ours; ratio < 10 {
		return fmt.Sprintf("%s (%.2f)", text, ratio)
	}
	return fmt.Sprintf("%s (%.0f)", text, figure/ours)
}

func replace(tables string) error {
	doc, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(doc, []byte(tableTop))
	_, after, closed := bytes.Cut(rest, []byte(tableEnd))
	if !found || !closed {
		return fmt.Errorf("%s has no section of rivals to replace", report)
	}
	//nolint:gosec // a document is for everybody to read
	return os.WriteFile(report, fmt.Appendf(nil, "%s%s%s\n%s%s", before, tableTop, tables, tableEnd, after), 0o644)
}
