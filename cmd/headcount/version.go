package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// VersionCmd prints the version.
type VersionCmd struct{}

// Run prints one line: version, revision, Go, platform.
func (VersionCmd) Run(env *Env) error {
	_, err := fmt.Fprintln(env.Stdout, "headcount", readBuild())
	return err
}

// build is what the binary knows about how it was made.
type build struct {
	Version  string // the module's version, "devel" for a build from a checkout
	Revision string // of the checkout, "unknown" where it was built without version control
	Go       string
}

func readBuild() build {
	b := build{Version: "devel", Revision: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty {
		b.Revision += "-dirty"
	}
	return b
}

func (b build) String() string {
	return fmt.Sprintf("%s (revision %s, %s, %s/%s)", b.Version, b.Revision, b.Go, runtime.GOOS, runtime.GOARCH)
}
