package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"
)

// answers are whole responses, each of another form.
func answers() []struct {
	name, text string
	want       answer
} {
	type row = struct {
		name, text string
		want       answer
	}
	return []row{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: now\r\n\r\nhello", answer{status: 200, body: []byte("hello")}},
		{"odd case", "HTTP/1.1 410 Gone\r\ncONTENT-lENGTH:2\r\n\r\n{}", answer{status: 410, body: []byte("{}")}},
		{"no body", "HTTP/1.1 204 No Content\r\nContent-Type: text/plain\r\n\r\n", answer{status: 204}},
		{"not modified has a length and no body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", answer{status: 304}},
		{"empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", answer{status: 200, body: []byte{}}},
		{"close", "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", answer{status: 503, body: []byte("x"), close: true}},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n", answer{status: 200, body: []byte("hello world")}},
		{"trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n", answer{status: 200, body: []byte("0123456789")}},
		{"interim first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny", answer{status: 200, body: []byte("y")}},
	}
}

// A response is read when its last byte is there, wherever it was split, and not
// before; what follows it is left alone.
func TestParseAnswerSplit(t *testing.T) {
	for _, tt := range answers() {
		for cut := range len(tt.text) {
			if _, n, err := parseAnswer([]byte(tt.text[:cut])); n != 0 || err != nil {
				t.Errorf("%s: cut after %d bytes it takes %d, %v; want 0 and no error", tt.name, cut, n, err)
			}
		}
		got, n, err := parseAnswer([]byte(tt.text + "HTTP/1.1 200"))
		if err != nil || n != len(tt.text) {
			t.Errorf("%s: takes %d bytes, %v; want %d", tt.name, n, err, len(tt.text))
		}
		if got.status != tt.want.status || got.close != tt.want.close || !bytes.Equal(got.body, tt.want.body) {
			t.Errorf("%s: got %d %q close %v; want %d %q close %v", tt.name,
				got.status, got.body, got.close, tt.want.status, tt.want.body, tt.want.close)
		}
	}
}

// What is not a response with an end is an error, and asks for no memory.
func TestParseAnswerRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"another protocol":  "+OK\r\n",
		"another version":   "HTTP/1.0 200 OK\r\n\r\n",
		"no status":         "HTTP/1.1 \r\n\r\n",
		"letters as status": "HTTP/1.1 2x0 OK\r\n\r\n",
		"no end":            "HTTP/1.1 200 OK\r\n\r\n",
		"negative length":   "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"absurd length":     "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"absurd chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
		"chunk of nothing":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
		"chunk without end": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
	} {
		if a, n, err := parseAnswer([]byte(text)); err == nil {
			t.Errorf("%s: got %d %q, %d bytes; want an error", name, a.status, a.body, n)
		}
	}
}

// Whatever arrives in whatever pieces, the parser does not crash, never takes
// more than there is, says the same at every split, and agrees with net/http on
// the answers that it reads.
func FuzzParseAnswer(f *testing.F) {
	for _, tt := range answers() {
		f.Add([]byte(tt.text), 7)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		whole := bytes.Clone(text)
		got, n, err := parseAnswer(whole)
		if n < 0 || n > len(text) || (err != nil && n != 0) {
			t.Fatalf("takes %d of %d bytes, %v", n, len(text), err)
		}
		if n == 0 || err != nil {
			return
		}
		if cut = min(max(cut, 0), n-1); cut >= 0 {
			if _, early, err := parseAnswer(bytes.Clone(text[:cut])); early != 0 || err != nil {
				t.Fatalf("complete at %d bytes, yet takes %d, %v at %d", n, early, err, cut)
			}
		}
		theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), nil)
		if err != nil {
			return // net/http is stricter about what a header may be
		}
		defer theirs.Body.Close()
		body, err := io.ReadAll(theirs.Body)
		if err != nil || theirs.StatusCode/100 == 1 {
			return
		}
		if theirs.StatusCode != got.status {
			t.Errorf("status %d, net/http says %d", got.status, theirs.StatusCode)
		}
		if !bytes.Equal(body, got.body) {
			t.Errorf("body %q, net/http says %q", got.body, body)
		}
	})
}
