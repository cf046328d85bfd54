package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// ConfigCmd prints the effective settings.
type ConfigCmd struct {
	Settings `embed:""`
}

// Run checks the settings as serve would and writes them as YAML that --config
// accepts.
func (c *ConfigCmd) Run(kctx *kong.Context, env *Env) error {
	if err := c.Check(); err != nil {
		return err
	}
	_, err := env.Stdout.Write(effectiveSettings(kctx))
	return err
}

// effectiveSettings writes the settings of the command that kctx selected.
// Secrets become comments: a mask that could be fed back would be a secret that
// everybody knows.
func effectiveSettings(kctx *kong.Context) []byte {
	var out bytes.Buffer
	group := ""
	for _, flag := range kctx.Selected().Flags {
		if flag.Group != nil && flag.Group.Key != group {
			group = flag.Group.Key
			fmt.Fprintf(&out, "\n# %s\n", group)
		}
		writeSetting(&out, flag)
	}
	return bytes.TrimLeft(out.Bytes(), "\n")
}

func writeSetting(out io.Writer, flag *kong.Flag) {
	key := fileKey(flag.Name)
	if flag.Tag.Has("secret") {
		fmt.Fprintf(out, "# %s: %s\n", key, secretState(flag))
		return
	}
	text, err := yaml.Marshal(map[string]any{key: settingValue(flag)})
	if err != nil {
		fmt.Fprintf(out, "# %s: %v\n", key, err)
		return
	}
	fmt.Fprintf(out, "%s\n", bytes.TrimRight(text, "\n"))
}

// settingsJSON returns the same for programs.
func settingsJSON(kctx *kong.Context) ([]byte, error) {
	settings := map[string]any{}
	for _, flag := range kctx.Selected().Flags {
		if flag.Tag.Has("secret") {
			settings[fileKey(flag.Name)] = secretState(flag)
			continue
		}
		settings[fileKey(flag.Name)] = settingValue(flag)
	}
	return json.Marshal(settings)
}

// settingValue returns a setting as one would write it.
func settingValue(flag *kong.Flag) any {
	value := flag.Target.Interface()
	if d, ok := value.(time.Duration); ok {
		return d.String()
	}
	return value
}

func secretState(flag *kong.Flag) string {
	if flag.Target.IsZero() {
		return "not set"
	}
	return "set, not shown"
}
