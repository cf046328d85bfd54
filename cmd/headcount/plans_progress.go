package main

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/headcount-live/headcount"
)

// longImport is the size in bytes from which an import shows how far it is: it
// takes about a second.
const longImport = 4 << 20

// importBar shows a person at a terminal how much of a long file was read, and
// then that the database is at work. The zero value shows nothing.
type importBar struct {
	bar    *progressbar.ProgressBar
	stderr io.Writer
}

func newImportBar(size int64, stderr io.Writer) importBar {
	if size < longImport || !isTerminal(stderr) {
		return importBar{}
	}
	return importBar{stderr: stderr, bar: progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription("reading"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// reader returns r, which moves the bar as it is read.
func (b importBar) reader(r io.Reader) io.Reader {
	if b.bar == nil {
		return r
	}
	reader := progressbar.NewReader(r, b.bar)
	return &reader
}

// ended returns rows, after whose last one the bar makes room for what follows.
func (b importBar) ended(rows iter.Seq2[headcount.Plan, error]) iter.Seq2[headcount.Plan, error] {
	if b.bar == nil {
		return rows
	}
	return func(yield func(headcount.Plan, error) bool) {
		good := true
		for row, err := range rows {
			good = good && err == nil
			if !yield(row, err) {
				good = false
				break
			}
		}
		_ = b.bar.Finish() // a terminal that went away is no reason to stop
		if good {
			fmt.Fprintln(b.stderr, "all lines are good; writing them to the database")
		}
	}
}
