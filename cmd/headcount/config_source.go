package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// source finds the settings that the command line leaves open: in the
// environment, else in the configuration file, else nowhere, so that the default
// holds. An empty environment variable counts as none. Flags that are no setting
// come from the command line only.
type source struct {
	getenv func(string) string
	known  map[string]bool // by flag: the settings; filled by learn
	file   map[string]any  // by key; nil until it was read
	err    error           // why it could not be; Validate tells, as no single flag is to blame
}

// learn finds out which flags are settings: those of the serve command, where the
// configuration file is, and those with the tag setting, which are about a server
// that runs elsewhere.
func (s *source) learn(app *kong.Application) {
	s.known = map[string]bool{configFlag: true}
	for _, flag := range serveFlags(app) {
		s.known[flag.Name] = true
	}
}

func (s *source) isSetting(flag *kong.Flag) bool {
	return s.known[flag.Name] || flag.Tag.Has("setting")
}

// Resolve implements [kong.Resolver].
func (s *source) Resolve(kctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !s.isSetting(flag) {
		return nil, nil
	}
	if name := envName(flag.Name); s.getenv(name) != "" {
		return checked(flag, s.getenv(name), "$"+name)
	}
	if flag.Name == configFlag {
		return nil, nil
	}
	if s.file == nil {
		s.file, s.err = readFile(s.path(kctx))
	}
	value, ok := s.file[fileKey(flag.Name)]
	if !ok || value == nil {
		return nil, nil
	}
	text, err := flagText(flag, value)
	if err != nil {
		return nil, fmt.Errorf("the key %s of the configuration file: %w", fileKey(flag.Name), err)
	}
	return checked(flag, text, "the key "+fileKey(flag.Name)+" of the configuration file")
}

// checked returns text if the flag can be set to it. kong would find out too,
// but could not say that the text came from origin.
func checked(flag *kong.Flag, text, origin string) (any, error) {
	target := reflect.New(flag.Target.Type()).Elem()
	scan := kong.Scan().PushTyped(text, kong.FlagValueToken)
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, target); err != nil {
		return nil, fmt.Errorf("%s: %w", origin, err)
	}
	return text, nil
}

// Validate implements [kong.Resolver]. It refuses a file that cannot be read and
// keys of it that no setting of the server has.
func (s *source) Validate(*kong.Application) error {
	if s.err != nil {
		return s.err
	}
	known := map[string]bool{}
	for flag := range s.known {
		known[fileKey(flag)] = flag != configFlag
	}
	for _, key := range slices.Sorted(maps.Keys(s.file)) {
		if known[key] {
			continue
		}
		if meant := fileKey(key); known[meant] {
			return fmt.Errorf("the configuration file has the key %q; it is spelled %s", key, meant)
		}
		return fmt.Errorf("the configuration file has the unknown key %q; take it out (`headcount config` prints every key there is)", key)
	}
	return nil
}

const configFlag = "config"

// path returns where the file is. That cannot be said in the file itself.
func (s *source) path(kctx *kong.Context) string {
	for _, flag := range kctx.Model.Flags {
		if given, ok := kctx.FlagValue(flag).(string); ok && flag.Name == configFlag && given != "" {
			return given
		}
	}
	return s.getenv(envName(configFlag))
}

// readFile returns the settings in the file, never a nil map; none for no path.
func readFile(path string) (map[string]any, error) {
	settings := map[string]any{}
	if path == "" {
		return settings, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return settings, fmt.Errorf("the configuration file %s does not exist", path)
	}
	if err != nil {
		return settings, fmt.Errorf("cannot read the configuration file: %w", err)
	}
	if err := yaml.Unmarshal(text, &settings); err != nil {
		return settings, fmt.Errorf("the configuration file %s is not a YAML mapping of settings: %w", path, err)
	}
	return settings, nil
}

// flagText turns a value of the file into what one would have typed.
func flagText(flag *kong.Flag, value any) (string, error) {
	switch v := value.(type) {
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			text, err := scalarText(item)
			if err != nil {
				return "", err
			}
			items[i] = text
		}
		return kong.JoinEscaped(items, flag.Tag.Sep), nil
	case map[string]any:
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := scalarText(v[name])
			if err != nil {
				return "", err
			}
			pairs = append(pairs, name+"="+text)
		}
		return kong.JoinEscaped(pairs, flag.Tag.MapSep), nil
	}
	return scalarText(value)
}

func scalarText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("expected one value, not %v", value)
}

// serveFlags returns the flags of the serve command: every setting there is.
func serveFlags(app *kong.Application) []*kong.Flag {
	for _, cmd := range app.Children {
		if cmd.Name == "serve" {
			return cmd.Flags
		}
	}
	return nil
}

func envName(flag string) string {
	return "HEADCOUNT_" + strings.ToUpper(fileKey(flag))
}

func fileKey(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// describe adds a setting's environment variable to its help.
func (s *source) describe(value *kong.Value) string {
	if value.Flag == nil || !s.isSetting(value.Flag) {
		return value.Help
	}
	return fmt.Sprintf("%s ($%s)", value.Help, envName(value.Name))
}
