package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/headcount-live/headcount/client"
)

// maxDeviceName is how much of a device's name fits a column, in characters.
const maxDeviceName = 32

// printStreams writes the streams of an account as a table for a person.
func printStreams(w io.Writer, account string, l client.Listing) error {
	if _, err := fmt.Fprintf(w, "%s plays %d of %d\n", printable(account), len(l.Active), l.Limit); err != nil {
		return err
	}
	if len(l.Active) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STREAM\tDEVICE\tSINCE\tLAST SEEN\tLAPSES IN")
	for _, lease := range l.Active {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d s\n", printable(lease.StreamID), deviceName(lease.DeviceMeta),
			lease.StartedAt.Time().Format(time.RFC3339), lease.LastSeen.Time().Format(time.RFC3339), lease.LapsesInSec)
	}
	return table.Flush() // tells of the first failed write, if any
}

// deviceName finds in device_meta what a person would call the device: the
// string itself, or the name in an object; otherwise its text.
func deviceName(meta json.RawMessage) string {
	var name string
	if json.Unmarshal(meta, &name) == nil && name != "" {
		return shorten(printable(name))
	}
	var object struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(meta, &object) == nil && object.Name != "" {
		return shorten(printable(object.Name))
	}
	if len(meta) == 0 || string(meta) == "null" {
		return "-"
	}
	return shorten(printable(string(meta)))
}

// printable shows what would move the cursor or colour the terminal as its
// escape: the text comes from players, who are strangers.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

func shorten(s string) string {
	runes := []rune(s)
	if len(runes) <= maxDeviceName {
		return s
	}
	return string(runes[:maxDeviceName-1]) + "…"
}
