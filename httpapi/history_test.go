package httpapi

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// send serves one request without a network between.
func send(h http.Handler, method, path, body string) reply {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader(body)))
	return reply{rec.Code, rec.Header(), rec.Body.String()}
}

// Of a thousand devices that press play on one account at the same moment,
// exactly as many as its plan allows are admitted.
func TestStampede(t *testing.T) {
	for plan, limit := range map[string]int{"basic": 1, "standard": 2, "premium": 4} {
		h := newServer(t, io.Discard)
		if r := send(&local{h.Admin()}, "PUT", "/admin/v1/accounts/a/plan", `{"plan":"`+plan+`"}`); r.status != http.StatusOK {
			t.Fatal(r.body)
		}
		statuses := make([]int, 1000)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() {
				<-start
				statuses[i] = send(h.Public(), "POST", "/v1/streams", fmt.Sprintf(`{"account_id":"a","device_id":"d%d"}`, i)).status
			})
		}
		close(start)
		all.Wait()
		got := map[int]int{}
		for _, status := range statuses {
			got[status]++
		}
		if got[http.StatusOK] != limit || got[http.StatusConflict] != len(statuses)-limit {
			t.Errorf("%s: got %v, want %d admitted and the others denied", plan, got, limit)
		}
	}
}

// local lets httptest's requests, which come under the name example.com, pass as
// an operator's.
type local struct{ http.Handler }

func (l *local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Host = "localhost"
	l.Handler.ServeHTTP(w, r)
}

const (
	historyDevices = 5
	historyLimit   = 2 // of the default plan
)

// action is one request of a history.
type action struct {
	kind   string // play, beat, release or kick
	device int    // of a play
	stream string // of the others
}

// streams is the state of an account: the live stream of each device, "" for none.
type streams [historyDevices]string

// account is what one account does, one step after the other.
func account() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return streams{} },
		Step: func(state, input, output any) (bool, any) {
			return state.(streams).step(input.(action), output.(reply))
		},
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%+v -> %d %.120s", input, output.(reply).status, output.(reply).body)
		},
	}
}

// step reports whether the answer is right in this state, and the next one.
func (s streams) step(a action, answer reply) (bool, streams) {
	if a.kind == "play" {
		return s.play(a.device, answer)
	}
	at := -1
	for device, stream := range s {
		if stream != "" && stream == a.stream {
			at = device
		}
	}
	var want int
	switch {
	case a.kind == "release", at >= 0:
		want = http.StatusOK
	case a.kind == "beat":
		want = http.StatusGone
	default:
		want = http.StatusNotFound
	}
	if at >= 0 && a.kind != "beat" {
		s[at] = ""
	}
	return answer.status == want, s
}

func (s streams) play(device int, answer reply) (bool, streams) {
	others := 0
	for d, stream := range s {
		if stream != "" && d != device {
			others++
		}
	}
	if s[device] == "" && others >= historyLimit {
		return answer.status == http.StatusConflict, s
	}
	_, stream, _ := strings.Cut(answer.body, `{"stream_id":"`)
	s[device], _, _ = strings.Cut(stream, `"`)
	return answer.status == http.StatusOK, s
}

// However requests on an account interleave, their answers are those of some
// order, one after the other: never more than the limit are live, never fewer are
// admitted.
func TestHistoriesAreLinearizable(t *testing.T) {
	h := newServer(t, io.Discard).Public()
	for run := range 20 {
		history := live(h, fmt.Sprintf("account-%d", run), uint64(run))
		if result, info := porcupine.CheckOperationsVerbose(account(), history, 10*time.Second); result != porcupine.Ok {
			path := t.ArtifactDir() + "/history.html"
			if err := porcupine.VisualizePath(account(), info, path); err != nil {
				t.Log(err)
			}
			t.Fatalf("run %d is %s; see %s", run, result, path)
		}
	}
}

// live lets six clients act on an account at once and returns what happened.
func live(h http.Handler, name string, seed uint64) []porcupine.Operation {
	var (
		mu      sync.Mutex
		history []porcupine.Operation
		known   = []string{"none"}
		all     sync.WaitGroup
	)
	began := time.Now()
	for client := range 6 {
		rng := rand.New(rand.NewPCG(seed, uint64(client)))
		all.Go(func() {
			for range 30 {
				mu.Lock()
				a := action{kind: "play", device: rng.IntN(historyDevices), stream: known[len(known)-1-rng.IntN(min(4, len(known)))]}
				mu.Unlock()
				if roll := rng.IntN(4); roll > 0 {
					a.kind = [...]string{"beat", "release", "kick"}[roll-1]
				}
				call := time.Since(began).Nanoseconds()
				answer := a.send(h, name)
				done := time.Since(began).Nanoseconds()
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: a, Call: call, Output: answer, Return: done})
				if _, stream, ok := strings.Cut(answer.body, `{"stream_id":"`); ok && answer.status == http.StatusOK {
					stream, _, _ = strings.Cut(stream, `"`)
					known = append(known, stream)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return history
}

func (a action) send(h http.Handler, name string) reply {
	body := `{"account_id":"` + name + `"}`
	switch a.kind {
	case "play":
		return send(h, "POST", "/v1/streams", fmt.Sprintf(`{"account_id":%q,"device_id":"d%d"}`, name, a.device))
	case "beat":
		return send(h, "PUT", "/v1/streams/"+a.stream+"/heartbeat", body)
	case "release":
		return send(h, "DELETE", "/v1/streams/"+a.stream, body)
	}
	return send(h, "POST", "/v1/accounts/"+name+"/streams/"+a.stream+"/force-stop", "")
}
