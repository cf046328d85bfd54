package headcount_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/headcount-live/headcount"

// room is a folder of the house and what it may import of the other rooms.
// Data flows one way; the reasons are here so that nobody has to guess them.
type room struct {
	imports []string // rooms, "" is the root package
	tests   []string // what its tests may import beside that, memory (the fake) and storetest
	why     string
}

var rooms = map[string]room{
	"":                {nil, nil, "the nouns and the store contracts: everybody leans on them, they lean on nothing"},
	"slab":            {nil, nil, "memory outside the heap knows nothing of what is kept in it"},
	"snapshot":        {nil, nil, "the frame of a file knows nothing of what is in it"},
	"gate":            {[]string{""}, nil, "the rule of streams works on any store, and without pages"},
	"crowd":           {[]string{"", "crowd/sketch", "slab"}, nil, "the counting of pages works on any store, and without streams"},
	"crowd/sketch":    {nil, nil, "a sketch is arithmetic on hashes"},
	"memory":          {[]string{"", "slab"}, []string{"snapshot"}, "an adapter knows the contract, never the policy or another adapter"},
	"sqldb":           {[]string{""}, nil, "an adapter knows the contract, never the policy or another adapter"},
	"redis":           {[]string{""}, []string{"redis/redistest"}, "an adapter knows the contract, never the policy or another adapter"},
	"redis/redistest": {nil, nil, "starting a server for a test needs nothing of ours"},
	"storetest":       {[]string{""}, nil, "the suite tests the contract, so it cannot know a store"},
	"httpapi":         {[]string{"", "gate", "crowd"}, []string{"client"}, "the skin speaks HTTP; what is allowed and counted is decided below it"},
	"httpapi/auth":    {[]string{""}, nil, "identity is settled before anything else is known"},
	"client":          {[]string{""}, []string{"httpapi", "gate", "crowd"}, "a client shares the nouns with the server and nothing else, so that it stays small to import"},
	"load":            {[]string{"", "client", "memory", "crowd", "slab"}, []string{"httpapi", "gate"}, "the simulated people go through the client; engine benchmarks drive the engines themselves"},
	"web":             {nil, nil, "files to embed"},
	"cmd/headcount":   {[]string{"", "gate", "crowd", "memory", "sqldb", "redis", "snapshot", "httpapi", "client", "load", "web"}, nil, "the one place that knows everything and wires it"},
}

// outsiders says which rooms may import a third-party module, so that a swap of
// one stays a change of one room.
var outsiders = map[string]struct {
	rooms []string
	why   string
}{
	"github.com/alecthomas/kong":              {[]string{"cmd/headcount"}, "only the command has a command line"},
	"github.com/goccy/go-yaml":                {[]string{"cmd/headcount"}, "only the command reads a configuration file"},
	"github.com/jackc/pgx/v5":                 {[]string{"sqldb"}, "SQL stays in one room"},
	"github.com/pressly/goose/v3":             {[]string{"sqldb"}, "SQL stays in one room"},
	"modernc.org/sqlite":                      {[]string{"sqldb"}, "SQL stays in one room"},
	"github.com/redis/rueidis":                {[]string{"redis"}, "Redis stays in one room"},
	"github.com/maypok86/otter/v2":            {[]string{"gate"}, "the one cache is that of plans"},
	"github.com/sony/gobreaker/v2":            {[]string{"gate"}, "failing open is the gate's policy"},
	"github.com/HdrHistogram/hdrhistogram-go": {[]string{"load"}, "only the load measures itself in histograms"},
	"github.com/schollz/progressbar/v3":       {[]string{"cmd/headcount"}, "only the command talks to people"},
	"github.com/anishathalye/porcupine":       {[]string{"storetest"}, "a test's tool"},
	"pgregory.net/rapid":                      {[]string{"storetest"}, "a test's tool"},
	"github.com/google/go-cmp":                {[]string{"storetest"}, "a test's tool"},
	"github.com/getkin/kin-openapi":           {nil, "a test's tool"},
	"github.com/rogpeppe/go-internal":         {nil, "a test's tool"},
	"go.uber.org/goleak":                      {nil, "a test's tool"},
	"github.com/prometheus/client_golang":     {[]string{"gate", "crowd", "memory", "sqldb", "redis", "httpapi", "cmd/headcount"}, "nouns and clients have no metrics"},
	"github.com/prometheus/common":            {nil, "a test reads metrics with it"},
	"golang.org/x/sys":                        {[]string{"slab", "memory", "load", "cmd/headcount"}, "only what maps memory or asks the system needs it"},
	"golang.org/x/sync":                       {[]string{"gate", "sqldb", "redis", "httpapi", "load", "cmd/headcount"}, "goroutines are grouped where they are started"},
	"golang.org/x/term":                       {[]string{"cmd/headcount"}, "only the command talks to people"},
}

// TestDependencies holds every import of the tree against the two tables above.
func TestDependencies(t *testing.T) {
	for _, file := range goFiles(t) {
		name := strings.TrimPrefix(path.Dir(file), ".")
		r, known := rooms[name]
		if !known {
			t.Errorf("%s: the room %q is not in deps_test.go; add it with what it may import and why", file, name)
			continue
		}
		isTest := strings.HasSuffix(file, "_test.go")
		for _, imported := range imports(t, file) {
			if to, inside := inRoom(imported); inside {
				checkRoom(t, file, name, to, r, isTest)
				continue
			}
			checkOutsider(t, file, name, imported, isTest)
		}
	}
}

func checkRoom(t *testing.T, file, from, to string, r room, isTest bool) {
	t.Helper()
	switch {
	case from == to, slices.Contains(r.imports, to):
	case isTest && (to == "memory" || to == "storetest" || to == "" || slices.Contains(r.tests, to)):
	default:
		t.Errorf("%s: %q may not import %q: %s", file, from, to, r.why)
	}
}

func checkOutsider(t *testing.T, file, from, imported string, isTest bool) {
	t.Helper()
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return // the standard library
	}
	if from == "" && !isTest {
		t.Errorf("%s: the root package may import only the standard library, not %s", file, imported)
		return
	}
	for mod, allowed := range outsiders {
		if imported != mod && !strings.HasPrefix(imported, mod+"/") {
			continue
		}
		if !isTest && !slices.Contains(allowed.rooms, from) {
			t.Errorf("%s: %q may not import %s: %s", file, from, mod, allowed.why)
		}
		return
	}
	t.Errorf("%s: %s is not in deps_test.go; add it with who may import it and why, and to docs/adr", file, imported)
}

// goFiles returns the Go files of this module, by slash-separated path.
func goFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (hasGoMod(name) || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no Go files: the test does not run in the root of the module")
	}
	return files
}

// hasGoMod reports whether a folder is a module of its own.
func hasGoMod(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func imports(t *testing.T, file string) (paths []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}

// inRoom returns the room that an import path names, if it is one of ours.
func inRoom(imported string) (name string, ok bool) {
	if imported == module {
		return "", true
	}
	return strings.CutPrefix(imported, module+"/")
}
