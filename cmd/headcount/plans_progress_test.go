package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/schollz/progressbar/v3"

	"github.com/headcount-live/headcount"
)

// The bar lets every row and byte through, and says that the database is at work
// only when the rows ended well.
func TestImportBar(t *testing.T) {
	const good = plansHeader + "\nann,basic,,active\nben,basic,,active\n"
	for _, tt := range []struct {
		text     string
		rows     int
		announce bool
	}{
		{good, 2, true},
		{good + "bad\n", 2, false},
	} {
		var screen bytes.Buffer
		bar := importBar{stderr: &screen, bar: progressbar.NewOptions64(int64(len(tt.text)), progressbar.OptionSetWriter(&screen))}
		rows, err := collect(bar.ended(readPlans(bar.reader(strings.NewReader(tt.text)), headcount.DefaultCatalogue())))
		if len(rows) != tt.rows || (err == nil) != tt.announce {
			t.Errorf("%q: got %d rows, %v", tt.text, len(rows), err)
		}
		if got := strings.Contains(screen.String(), "writing them to the database"); got != tt.announce {
			t.Errorf("%q: the screen shows %q", tt.text, screen.String())
		}
		if !strings.Contains(screen.String(), "100%") {
			t.Errorf("%q: the bar never came to its end: %q", tt.text, screen.String())
		}
	}
}

// Who is no terminal, or has a short file, sees no bar.
func TestNoImportBar(t *testing.T) {
	var log bytes.Buffer
	for _, size := range []int64{0, longImport - 1, longImport * 100} {
		bar := newImportBar(size, &log)
		source := strings.NewReader(plansHeader + "\nann,basic,,active\n")
		if r := bar.reader(source); r != io.Reader(source) {
			t.Errorf("size %d: the source is wrapped", size)
		}
		if rows, err := collect(bar.ended(readPlans(source, headcount.DefaultCatalogue()))); len(rows) != 1 || err != nil {
			t.Errorf("size %d: got %v, %v", size, rows, err)
		}
	}
	if log.Len() > 0 {
		t.Errorf("a log got %q", log.String())
	}
}
