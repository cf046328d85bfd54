package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/headcount-live/headcount"
	"github.com/headcount-live/headcount/storetest"
)

// A file is read with all the freedom that spreadsheets take: byte order mark,
// CRLF, empty lines, quotes where none are needed, no end of line at the end.
func TestReadPlans(t *testing.T) {
	three := 3
	want := []headcount.Plan{
		{AccountID: "ann", Plan: "basic", Status: headcount.StatusActive},
		{AccountID: `a,"b"`, Plan: "family", MaxStreams: &three, Status: headcount.StatusPaused},
		{AccountID: "日本 👩‍👩‍👧‍👦", Plan: "premium", Status: headcount.StatusChurned},
	}
	for name, text := range map[string]string{
		"plain":          plansHeader + "\nann,basic,,\n\"a,\"\"b\"\"\",family,3,paused\n日本 👩‍👩‍👧‍👦,premium,,churned\n",
		"spreadsheet":    "\uFEFF" + plansHeader + "\r\n\r\n\"ann\",\"basic\",\"\",\"active\"\r\n\"a,\"\"b\"\"\",family,\"3\",paused\r\n\n日本 👩‍👩‍👧‍👦,premium,,churned\r\n\r\n",
		"no end of line": plansHeader + "\nann,basic,,active\n\"a,\"\"b\"\"\",family,03,paused\n日本 👩‍👩‍👧‍👦,premium,,churned",
	} {
		got, err := collect(readPlans(iotest.OneByteReader(strings.NewReader(text)), headcount.DefaultCatalogue()))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: err %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Every bad line is told with its number and reason, and none of the good ones
// after the first bad one is offered.
func TestReadPlansBadLines(t *testing.T) {
	long := strings.Repeat("x", 5000)
	got, err := collect(readPlans(strings.NewReader(strings.Join([]string{
		plansHeader, "ann,basic,,active",
		"bob,gold,,active", ",basic,,active", "a\x00b,basic,,active", "a\xffb,basic,,active", strings.Repeat("x", 129) + ",basic,,active",
		"cem,basic,65,active", "cem,basic,-1,active", "cem,basic,+1,active", "cem,basic,two,active", "cem,basic,1 ,active",
		"dan,basic,,Active", "dan,basic,, active", "dan,basic,", "dan,basic,,active,", "dan", `"dan,basic,,active`, `"dan"x,basic,,active`,
		`d"an,basic,,active`, long + ",basic,,active", "eve,,,active", "zoe,basic,,active",
	}, "\n")), headcount.DefaultCatalogue()))
	if len(got) != 1 || got[0].AccountID != "ann" {
		t.Errorf("offered %v, want the row before the first bad line", got)
	}
	want := []string{
		`line 3: plan "gold" is not in the catalogue`, "line 4: account_id must not be empty", "line 5: account_id holds a control character",
		"line 6: account_id is not valid UTF-8", "line 7: account_id is 129 bytes long", "line 8: max_streams must be 0 to 64, not 65",
		`line 9: max_streams must be a number`, "line 10: max_streams", `line 11: max_streams must be a number from 0 to 64, or empty, not "two"`,
		"line 12: max_streams", `line 13: status must be active, paused or churned, not "Active"`, "line 14: status", "line 15: 3 fields, not the 4",
		"line 16: 5 fields", "line 17: 1 field, not", "line 18: a quote is opened and not closed", "line 19: text after a closing quote",
		"line 20: a quote inside a field", "line 21: longer than 4096 bytes", "line 22: plan must not be empty",
	}
	lines := strings.Split(fmt.Sprint(err), "\n  ")
	if lines[0] != "20 bad lines; nothing was imported" || len(lines) != len(want)+1 {
		t.Fatalf("got %d lines: %v", len(lines), err)
	}
	for i, want := range want {
		if !strings.HasPrefix(lines[i+1], want) {
			t.Errorf("got %q, want %q", lines[i+1], want)
		}
	}
}

// A file that is bad all through is told in a length that a person reads.
func TestReadPlansManyBadLines(t *testing.T) {
	_, err := collect(readPlans(strings.NewReader(plansHeader+strings.Repeat("\nbad", 1234)), headcount.DefaultCatalogue()))
	text := fmt.Sprint(err)
	if !strings.HasPrefix(text, "1234 bad lines") || !strings.HasSuffix(text, "\n  and 1214 more") || strings.Count(text, "\n") != shownBadLine+1 {
		t.Errorf("got %s", text)
	}
}

// What is no file of plans is refused at its first line, and a source that breaks
// off is not taken for a short one.
func TestReadPlansOtherFiles(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"empty":         strings.NewReader(""),
		"no header":     strings.NewReader("ann,basic,,active\n"),
		"other order":   strings.NewReader("plan,account_id,max_streams,status\n"),
		"one long line": strings.NewReader(strings.Repeat("x", 1<<20)),
	} {
		if rows, err := collect(readPlans(r, headcount.DefaultCatalogue())); len(rows) > 0 || err == nil || !strings.Contains(err.Error(), "must be the header "+plansHeader) {
			t.Errorf("%s: got %v, %v", name, rows, err)
		}
	}
	broken := errors.New("disk on fire")
	r := io.MultiReader(strings.NewReader(plansHeader+"\nann,basic,,active\nbob,ba"), iotest.ErrReader(broken))
	if _, err := collect(readPlans(r, headcount.DefaultCatalogue())); !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("got %v, want the failure at line 3", err)
	}
	if rows, err := collect(readPlans(strings.NewReader(plansHeader), headcount.DefaultCatalogue())); len(rows) > 0 || err != nil {
		t.Errorf("a header alone: got %v, %v", rows, err)
	}
}

// What export writes, import reads back, whatever the ids are made of.
func TestPlansRoundTrip(t *testing.T) {
	var want []headcount.Plan
	for i, id := range storetest.OddIDs() {
		row := headcount.Plan{AccountID: id, Plan: id, MaxStreams: &i, Status: headcount.StatusPaused}
		if i%2 == 0 {
			row = headcount.Plan{AccountID: id, Plan: "basic", Status: headcount.StatusActive}
		}
		want = append(want, row)
	}
	var file bytes.Buffer
	if n, err := writePlans(&file, rowsOf(want)); n != len(want) || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	got, err := collect(readPlans(&file, headcount.DefaultCatalogue()))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("err %v (-want +got):\n%s", err, diff)
	}
}

// FuzzReadPlans: no input is a panic, every row offered may be stored, and rows
// survive being written and read again.
func FuzzReadPlans(f *testing.F) {
	for _, lines := range []string{"ann,basic,,active\n", "\"a,\"\"b\",x,3,paused\r\n\r\n", "\"", "a\"b,c\n,,,,\n", "日本,premium,064,\n"} {
		f.Add([]byte(plansHeader + "\n" + lines))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		catalogue := headcount.DefaultCatalogue()
		rows, err := collect(readPlans(bytes.NewReader(text), catalogue))
		for _, row := range rows {
			if err := row.Check(catalogue); err != nil {
				t.Errorf("offered %+v: %v", row, err)
			}
		}
		if err != nil && err.Error() == "" {
			t.Error("an error that says nothing")
		}
		var file bytes.Buffer
		if _, err := writePlans(&file, rowsOf(rows)); err != nil {
			t.Fatal(err)
		}
		again, err := collect(readPlans(&file, catalogue))
		if diff := cmp.Diff(rows, again); err != nil || diff != "" {
			t.Errorf("err %v (-first +again):\n%s", err, diff)
		}
	})
}

// FuzzSplitCSV: a line is split as the standard library splits it, and refused
// where it refuses.
func FuzzSplitCSV(f *testing.F) {
	for _, line := range []string{"a,b,c", `"a","b""c",`, `a"b`, `"a"b`, `"a`, `"",""`, ",", " a , b ", `"a,b",c`, `""""`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if line == "" || strings.ContainsAny(line, "\r\n") {
			t.Skip("no line")
		}
		want, wantErr := csv.NewReader(strings.NewReader(line)).Read()
		got, err := splitCSV(line)
		if (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; encoding/csv says %q, %v", line, got, err, want, wantErr)
		}
	})
}

func collect(rows iter.Seq2[headcount.Plan, error]) (all []headcount.Plan, err error) {
	for row, err := range rows {
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
	return all, nil
}

func rowsOf(rows []headcount.Plan) iter.Seq2[headcount.Plan, error] {
	return func(yield func(headcount.Plan, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func BenchmarkReadPlans(b *testing.B) {
	const lines = 1000
	text := plansHeader + strings.Repeat("\n0123456789,custom,12,active", lines)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		n := 0
		for _, err := range readPlans(strings.NewReader(text), headcount.DefaultCatalogue()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != lines {
			b.Fatal(n)
		}
	}
}
