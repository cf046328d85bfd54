package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/headcount-live/headcount"
)

// plansHeader is the first line of a file of plans.
const plansHeader = "account_id,plan,max_streams,status"

const (
	maxPlanLine  = 4096 // bytes; the longest honest line has about 600
	shownBadLine = 20   // bad lines told one by one
)

// readPlans yields the rows of a CSV file. A line is a record, because no id may
// hold a line break, so one broken quote spoils one line and not the rest. From
// the first bad line on it yields no rows but reads to the end, so that a person
// learns of all bad lines at once: they come last, as a [badLinesError].
func readPlans(r io.Reader, c headcount.Catalogue) iter.Seq2[headcount.Plan, error] {
	return func(yield func(headcount.Plan, error) bool) {
		lines := planLines{r: bufio.NewReaderSize(r, 1<<16)}
		if err := lines.header(); err != nil {
			yield(headcount.Plan{}, err)
			return
		}
		var bad badLinesError
		for {
			line, err := lines.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil && !errors.Is(err, errLongLine) {
				yield(headcount.Plan{}, fmt.Errorf("reading line %d: %w", lines.number, err))
				return
			}
			if err == nil && len(line) == 0 {
				continue
			}
			var row headcount.Plan
			if err == nil {
				row, err = parsePlan(string(line), c)
			}
			if err != nil {
				bad.add(lines.number, err)
			}
			if bad.total == 0 && !yield(row, nil) {
				return
			}
		}
		if bad.total > 0 {
			yield(headcount.Plan{}, &bad)
		}
	}
}

// parsePlan reads one line. An empty max_streams means none of its own, an empty
// status means active.
func parsePlan(line string, c headcount.Catalogue) (headcount.Plan, error) {
	fields, err := splitCSV(line)
	if err != nil {
		return headcount.Plan{}, err
	}
	if len(fields) != 4 {
		return headcount.Plan{}, fmt.Errorf("%s, not the 4 of %s", countOf(len(fields), "field"), plansHeader)
	}
	row := headcount.Plan{AccountID: fields[0], Plan: fields[1], Status: headcount.StatusActive}
	if fields[2] != "" {
		n, err := strconv.ParseUint(fields[2], 10, 16)
		if err != nil {
			return headcount.Plan{}, fmt.Errorf("max_streams must be a number from 0 to %d, or empty, not %q", headcount.MaxStreamsLimit, fields[2])
		}
		limit := int(n)
		row.MaxStreams = &limit
	}
	if fields[3] != "" {
		row.Status = headcount.Status(fields[3])
	}
	if err := row.Check(c); err != nil {
		return headcount.Plan{}, errors.New(publicMessage(err))
	}
	return row, nil
}

// splitCSV splits one line into its fields, as RFC 4180 says.
func splitCSV(line string) ([]string, error) {
	fields := make([]string, 0, 4)
	for {
		field, rest, more, err := nextField(line)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		if !more {
			return fields, nil
		}
		line = rest
	}
}

// nextField cuts the first field off a line; more says that another follows.
func nextField(line string) (field, rest string, more bool, err error) {
	if !strings.HasPrefix(line, `"`) {
		field, rest, more = strings.Cut(line, ",")
		if strings.Contains(field, `"`) {
			return "", "", false, errors.New(`a quote inside a field; put the whole field in quotes and write each quote in it twice`)
		}
		return field, rest, more, nil
	}
	var b strings.Builder
	for line = line[1:]; ; {
		text, after, closed := strings.Cut(line, `"`)
		if !closed {
			return "", "", false, errors.New("a quote is opened and not closed on this line")
		}
		b.WriteString(text)
		switch {
		case strings.HasPrefix(after, `"`): // a quote written twice
			b.WriteByte('"')
			line = after[1:]
		case after == "":
			return b.String(), "", false, nil
		case after[0] == ',':
			return b.String(), after[1:], true, nil
		default:
			return "", "", false, errors.New("text after a closing quote; write a quote inside a field twice")
		}
	}
}

// planLines reads line by line and counts them, from 1.
type planLines struct {
	r      *bufio.Reader
	number int
}

var errLongLine = fmt.Errorf("longer than %d bytes", maxPlanLine)

// next returns the next line without its end. It is valid until the next call.
func (l *planLines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.number++
	long := len(line) > maxPlanLine
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
		long = true
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case long:
		return nil, errLongLine
	case len(line) == 0: // only at the end
		return nil, io.EOF
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

// header reads the first line, which spreadsheets begin with a byte order mark.
func (l *planLines) header() error {
	line, err := l.next()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLongLine) {
		return fmt.Errorf("reading line 1: %w", err)
	}
	if text := string(bytes.TrimPrefix(line, []byte("\uFEFF"))); text != plansHeader {
		return fmt.Errorf("line 1 must be the header %s", plansHeader)
	}
	return nil
}

// badLinesError says what is wrong with a file, up to a length that a person reads.
type badLinesError struct {
	shown []string
	total int
}

func (b *badLinesError) add(number int, err error) {
	b.total++
	if len(b.shown) < shownBadLine {
		b.shown = append(b.shown, fmt.Sprintf("line %d: %v", number, err))
	}
}

// Error lists the lines, one a line.
func (b *badLinesError) Error() string {
	text := fmt.Sprintf("%s; nothing was imported\n  %s", countOf(b.total, "bad line"), strings.Join(b.shown, "\n  "))
	if more := b.total - len(b.shown); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}
