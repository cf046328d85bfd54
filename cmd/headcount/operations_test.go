package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write the tables of docs/operations.md")

// The settings table of docs/operations.md lists every setting as it is.
func TestOperationsListsEverySetting(t *testing.T) {
	parser, err := kong.New(&CLI{}, kong.Name("headcount"))
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	group := ""
	for _, f := range serveFlags(parser.Model) {
		if f.Group.Key != group {
			group = f.Group.Key
			fmt.Fprintf(&table, "\n**%s**\n\n| flag and key | variable | default | |\n| --- | --- | --- | --- |\n", group)
		}
		fmt.Fprintf(&table, "| `--%s`<br>`%s` | `%s` | %s | %s |\n", f.Name, fileKey(f.Name), envName(f.Name), defaultText(f), tableText(f))
	}
	checkTable(t, "settings", table.String())
}

func defaultText(f *kong.Flag) string {
	switch {
	case f.IsBool():
		return "off"
	case f.HasDefault && f.Default != "":
		return "`" + f.Default + "`"
	}
	return ""
}

// tableText is the help of a setting without the default, which has a column.
func tableText(f *kong.Flag) string {
	help, _, _ := strings.Cut(f.OrigHelp, " (default: ${default})")
	help = strings.TrimSuffix(help, ".") + "."
	return strings.ReplaceAll(strings.ReplaceAll(help, "(${enum})", "("+f.Enum+")"), "|", `\|`)
}

// checkTable compares what stands between two markers of docs/operations.md
// with want, or writes it with -update.
func checkTable(t *testing.T, name, want string) {
	t.Helper()
	const path = "../../docs/operations.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- "+name+":")
	marker, rest, ok2 := strings.Cut(rest, "-->\n")
	got, tail, ok3 := strings.Cut(rest, "<!-- end of "+name+" -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no markers for %s", path, name)
	}
	want += "\n"
	switch {
	case got == want:
	case *update:
		text := head + "<!-- " + name + ":" + marker + "-->\n" + want + "<!-- end of " + name + " -->" + tail
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of %s in %s is not what the command has; write it with: go test ./cmd/headcount -run TestOperations -update", name, path)
	}
}
