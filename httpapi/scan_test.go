package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/headcount-live/headcount"
)

// abIndex knows two keys.
func abIndex(key string) int {
	switch key {
	case "a":
		return 0
	case "b":
		return 1
	}
	return -1
}

// A known key's value arrives with its kind, its text and its raw JSON; all else
// is read over.
func TestScannerReadsKnownKeys(t *testing.T) {
	for _, tt := range []struct {
		body, text, raw string
		kind            kind
	}{
		{`{}`, "", "", kindAbsent},
		{` { "a" : "x" } `, "x", `"x"`, kindString},
		{`{"z":[{"a":"no"}],"a":"yes"}`, "yes", `"yes"`, kindString},
		{`{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00"}`, "\"\\/\b\f\n\r\tAé😀", `"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00"`, kindString},
		{`{"\u0061":1}`, "", "1", kindNumber},
		{`{"a":-0.5E+7}`, "", "-0.5E+7", kindNumber},
		{`{"a":{"k" : [1, 2]}}`, "", `{"k" : [1, 2]}`, kindObject},
		{`{"a":[]}`, "", "[]", kindArray},
		{`{"a":null}`, "", "null", kindNull},
		{`{"a":false}`, "", "false", kindBool},
	} {
		var s scanner
		var fields [2]value
		if err := s.object([]byte(tt.body), abIndex, fields[:]); err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if got := fields[0]; got.kind != tt.kind || got.text != tt.text || got.raw != tt.raw {
			t.Errorf("%s: got %+v, want %+v", tt.body, got, tt)
		}
	}
}

// What is not strict JSON, or could mean two things, is refused as a whole.
func TestScannerRefuses(t *testing.T) {
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	for name, body := range map[string]string{
		"nothing":                 ``,
		"white space":             "  ",
		"a byte order mark":       "\ufeff{}",
		"an array":                `[]`,
		"null":                    `null`,
		"trailing garbage":        `{} x`,
		"two objects":             `{}{}`,
		"a trailing comma":        `{"a":1,}`,
		"a missing comma":         `{"a":1 "b":2}`,
		"a missing colon":         `{"a" 1}`,
		"an unquoted key":         `{a:1}`,
		"single quotes":           `{'a':1}`,
		"a missing value":         `{"a":}`,
		"a missing brace":         `{"a":1`,
		"a string without an end": `{"a":"x`,
		"a key given twice":       `{"a":1,"a":1}`,
		"a key twice by escape":   `{"a":1,"\u0061":1}`,
		"an unknown key twice":    `{"zz":1,"zz":1}`,
		"invalid UTF-8":           "{\"z\":\"\xff\"}",
		"a lone high surrogate":   `{"a":"\ud83d"}`,
		"a lone low surrogate":    `{"a":"\ude00"}`,
		"two high surrogates":     `{"a":"\ud83d\ud83d"}`,
		"an unknown escape":       `{"a":"\x41"}`,
		"three hex digits":        `{"a":"\u041"}`,
		"a raw line break":        "{\"a\":\"x\ny\"}",
		"a raw NUL":               "{\"a\":\"x\x00\"}",
		"a leading zero":          `{"a":01}`,
		"a plus":                  `{"a":+1}`,
		"a bare point":            `{"a":1.}`,
		"a bare exponent":         `{"a":1e}`,
		"a capital literal":       `{"a":True}`,
		"a longer literal":        `{"a":nulll}`,
		"a comment":               `{/**/}`,
		"bottomless nesting":      `{"z":` + deep + `}`,
		"bad JSON where ignored":  `{"z":[1,]}`,
	} {
		var s scanner
		var fields [2]value
		if err := s.object([]byte(body), abIndex, fields[:]); err == nil || err.Code != headcount.CodeInvalidJSON {
			t.Errorf("%s: %s was read, error %v", name, body, err)
		}
	}
}

// Values may nest to the limit itself.
func TestScannerReadsToMaxDepth(t *testing.T) {
	body := `{"z":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + `}`
	var s scanner
	if err := s.object([]byte(body), abIndex, make([]value, 2)); err != nil {
		t.Error(err)
	}
}

// A body of keys alone neither slows the scanner down nor hides a repeated one.
func TestScannerKeepsManyKeysApart(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"k0":0`)
	for i := 1; i < 100_000; i++ {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	var s scanner
	if err := s.object([]byte(b.String()+"}"), abIndex, make([]value, 2)); err != nil {
		t.Error(err)
	}
	if err := s.object([]byte(b.String()+`,"k99999":0}`), abIndex, make([]value, 2)); err == nil {
		t.Error("a repeated key among many was not seen")
	}
}

// Reading a body costs no allocation, whether it has escapes or not.
func TestScannerDoesNotAllocate(t *testing.T) {
	var s scanner
	var fields [2]value
	body := []byte(`{"a":"acct-12345678","b":"with \"escape\"","other":{"deep":[1,"x",null]}}`)
	if n := testing.AllocsPerRun(100, func() { _ = s.object(body, abIndex, fields[:]) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// FuzzScanner holds the scanner equal to encoding/json, where that is strict
// enough, and to what oracle adds where it is not.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":"x","b":{"c":[1,2.5e-3,true,false,null]}}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":1,"a":2}`,
		"{\"a\":\"\xff\"}", `{"a":"\u0000"}`, ` {"z":01} `, `[]`, `{"a":{"a":1,"a":2}}`, `{"":0,"":0}`, `{"a":"12345678901234567890"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var s scanner
		var fields [2]value
		err := s.object(body, abIndex, fields[:])
		want, valid := oracle(body)
		if (err == nil) != valid {
			t.Fatalf("%q: got error %v, want valid %v", body, err, valid)
		}
		for i, key := range []string{"a", "b"} {
			raw, there := want[key]
			if !valid || fields[i].kind == kindAbsent && !there {
				continue
			}
			if fields[i].raw != string(raw) {
				t.Fatalf("%q: %s is %s, want %s", body, key, fields[i].raw, raw)
			}
			var text string
			if json.Unmarshal(raw, &text) == nil && fields[i].text != text {
				t.Fatalf("%q: %s means %q, want %q", body, key, fields[i].text, text)
			}
		}
	})
}

// oracle reads body with encoding/json and refuses what that lets pass: invalid
// UTF-8, lone surrogates, keys given twice at the top, and bottomless nesting.
func oracle(body []byte) (map[string]json.RawMessage, bool) {
	if !utf8.Valid(body) || !json.Valid(body) || loneSurrogate(body) || nesting(body) > maxDepth {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	members := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, false
		}
		if _, twice := members[key.(string)]; twice {
			return nil, false
		}
		members[key.(string)] = raw
	}
	return members, true
}

// loneSurrogate looks for one in valid JSON.
func loneSurrogate(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		i++
		if body[i] != 'u' {
			continue
		}
		var r, low rune
		fmt.Sscanf(string(body[i+1:i+5]), "%x", &r)
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if i+6 >= len(body) || body[i+1] != '\\' || body[i+2] != 'u' {
			return true
		}
		fmt.Sscanf(string(body[i+3:i+7]), "%x", &low)
		if utf16.DecodeRune(r, low) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// nesting returns how deep valid JSON nests.
func nesting(body []byte) int {
	dec := json.NewDecoder(bytes.NewReader(body))
	depth, deepest := 0, 0
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	body := []byte(`{"account_id":"1234567890","device_id":"0123456789abcdef0123456789abcdef","title_id":"tt1234567890"}`)
	index := func(key string) int {
		switch key {
		case "account_id":
			return 0
		case "device_id":
			return 1
		case "title_id":
			return 2
		}
		return -1
	}
	var s scanner
	var fields [3]value
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := s.object(body, index, fields[:]); err != nil {
			b.Fatal(err)
		}
	}
}
