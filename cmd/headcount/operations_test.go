package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
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

// The metrics table of docs/operations.md lists every metric of a server.
func TestOperationsListsEveryMetric(t *testing.T) {
	admin := startServer(t).admin
	res, err := http.Get("http://" + admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	table.WriteString("\n| metric | labels | type | |\n| --- | --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if !strings.HasPrefix(name, "headcount_") {
			continue
		}
		family := families[name]
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+pair.GetName()+"`")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, strings.Join(labels, ", "), strings.ToLower(family.GetType().String()), family.GetHelp())
	}
	checkTable(t, "metrics", table.String())
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
