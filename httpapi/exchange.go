package httpapi

import (
	"net/http"
	"strconv"

	"github.com/headcount-live/headcount"
)

// maxArgs is the most {name} segments that a pattern has.
const maxArgs = 2

// exchange is one request on its way to an answer. Exchanges are pooled: what a
// route function takes out of one, views of the body above all, ends with it.
type exchange struct {
	args    [maxArgs]string // what the {name} segments of the pattern stand for
	query   string          // raw
	header  http.Header     // of the request
	request *http.Request
	body    []byte

	reply  http.Header // of the answer; Content-Type and Content-Length are set later
	status int
	out    []byte           // the answer's body
	failed *headcount.Error // what x.fail answered
	sent   bool             // the route has written the answer by itself

	route      *route
	denyStatus int
	jsonType   []string
	turn       uint8 // counts exchanges, for sampling
	segs       [maxSegments]string
	scan       scanner
	fields     [8]value
}

// Buffers that grew beyond these are left to the garbage collector instead of
// being pooled. Most bodies have a few hundred bytes.
const (
	keepBody = 16 << 10
	keepOut  = 16 << 10
)

func (x *exchange) begin(w http.ResponseWriter, r *http.Request) {
	x.request, x.query, x.header, x.reply = r, r.URL.RawQuery, r.Header, w.Header()
	x.turn++
}

// forget drops what belongs to the request, so that a pooled exchange keeps
// nothing alive.
func (x *exchange) forget() {
	x.args = [maxArgs]string{}
	x.request, x.query, x.header, x.reply, x.failed, x.route = nil, "", nil, nil, nil, nil
	x.status, x.sent = 0, false
	x.segs = [maxSegments]string{}
	clear(x.fields[:])
	x.scan.buf, x.scan.err = nil, nil
	x.scan.seen.reset()
	x.body = reuse(x.body, keepBody)
	x.out = reuse(x.out, keepOut)
	x.scan.scratch = reuse(x.scan.scratch, keepBody)
}

func reuse(b []byte, most int) []byte {
	if cap(b) > most {
		return nil
	}
	return b[:0]
}

// ok makes the bytes in x.out the answer, with status 200.
func (x *exchange) ok() { x.status = http.StatusOK }

// netHTTPCounts is the size below which net/http finds the Content-Length of an
// answer by itself, at no cost.
const netHTTPCounts = 2048

// write sends the answer in one piece.
func (x *exchange) write(w http.ResponseWriter, method string) {
	if len(x.out) > 0 {
		if _, given := x.reply["Content-Type"]; !given {
			x.reply["Content-Type"] = x.jsonType
		}
		if len(x.out) >= netHTTPCounts || method == http.MethodHead {
			x.reply["Content-Length"] = []string{strconv.Itoa(len(x.out))}
		}
	}
	x.sent = true
	if x.status != http.StatusOK {
		w.WriteHeader(x.status)
	}
	if len(x.out) > 0 && method != http.MethodHead {
		_, _ = w.Write(x.out) // an error means that the client is gone
	}
}
