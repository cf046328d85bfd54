package headcount_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/headcount-live/headcount"
)

// The edges of every range, as the contract words them.
func TestBucketAndDisplay(t *testing.T) {
	for _, tc := range []struct {
		count           int64
		bucket, display string
	}{
		{-1, "0", "0"},
		{0, "0", "0"},
		{1, "1-10", "1"},
		{9, "1-10", "9"},
		{10, "10-20", "10"},
		{19, "10-20", "19"},
		{20, "20-30", "20"},
		{23, "20-30", "23"},
		{99, "90-100", "99"},
		{100, "100+", "100+"},
		{109, "100+", "100+"},
		{110, "110+", "110+"},
		{123, "120+", "120+"},
		{999, "990+", "990+"},
		{1000, "1000+", "1K+"},
		{1099, "1000+", "1K+"},
		{1100, "1100+", "1.1K+"},
		{1250, "1200+", "1.2K+"},
		{9999, "9900+", "9.9K+"},
		{10_000, "10000+", "10K+"},
		{15_999, "15000+", "15K+"},
		{99_999, "99000+", "99K+"},
		{100_000, "100000+", "100K+"},
		{100_001, "100000+", "100K+"},
		{math.MaxInt64, "100000+", "100K+"},
	} {
		c := headcount.PageCount{Count: tc.count}
		if got := c.Bucket(); got != tc.bucket {
			t.Errorf("bucket of %d: got %q, want %q", tc.count, got, tc.bucket)
		}
		if got := c.Display(); got != tc.display {
			t.Errorf("display of %d: got %q, want %q", tc.count, got, tc.display)
		}
	}
}

// Over every count up to the last bucket: the bucket holds the count, display
// never claims more than there are nor less than nine tenths of it, and neither
// ever falls as the count grows.
func TestBucketAndDisplayAreHonest(t *testing.T) {
	lastLow, lastShown := int64(-1), int64(-1)
	for count := range int64(100_101) {
		c := headcount.PageCount{Count: count}
		low, high := bucketRange(t, c.Bucket())
		if count < low || count >= high {
			t.Fatalf("count %d lies outside its bucket %q", count, c.Bucket())
		}
		shown := displayed(t, c.Display())
		if shown > count || float64(shown) < 0.9*float64(count) {
			t.Fatalf("count %d is displayed as %q", count, c.Display())
		}
		if low < lastLow || shown < lastShown {
			t.Fatalf("count %d: %q or %q is less than for %d", count, c.Bucket(), c.Display(), count-1)
		}
		lastLow, lastShown = low, shown
	}
}

func bucketRange(t *testing.T, bucket string) (low, high int64) {
	t.Helper()
	if n, plus := strings.CutSuffix(bucket, "+"); plus {
		return number(t, n), math.MaxInt64
	}
	if a, b, ranged := strings.Cut(bucket, "-"); ranged {
		return number(t, a), number(t, b)
	}
	return number(t, bucket), number(t, bucket) + 1
}

func displayed(t *testing.T, display string) int64 {
	t.Helper()
	n, _ := strings.CutSuffix(display, "+")
	if k, thousands := strings.CutSuffix(n, "K"); thousands {
		f, err := strconv.ParseFloat(k, 64)
		if err != nil {
			t.Fatalf("display %q: %v", display, err)
		}
		return int64(math.Round(f * 1000))
	}
	return number(t, n)
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The JSON of a count carries what its state calls for and comes back as it was.
func TestPageCountJSON(t *testing.T) {
	for _, tc := range []struct {
		count headcount.PageCount
		json  string
	}{
		{
			headcount.PageCount{PageID: "p", Count: 23, TS: 5},
			`{"page_id":"p","count":23,"bucket":"20-30","display":"23","approx":false,"ts":5}`,
		},
		{
			headcount.PageCount{PageID: "p", Count: 3120, Approx: true, ErrorPct: 0.8125, TS: 5},
			`{"page_id":"p","count":3120,"bucket":"3100+","display":"3.1K+","approx":true,"error_pct":0.8125,"ts":5}`,
		},
		{
			headcount.PageCount{PageID: "p", Degraded: true, Popular: true, TS: 5},
			`{"page_id":"p","count":null,"bucket":"popular","display":"Popular today","degraded":true,"ts":5}`,
		},
		{
			headcount.PageCount{PageID: "p", Degraded: true, TS: 5},
			`{"page_id":"p","count":null,"bucket":"quiet","display":"","degraded":true,"ts":5}`,
		},
	} {
		text, err := json.Marshal(tc.count)
		if err != nil || string(text) != tc.json {
			t.Errorf("got %s, %v\nwant %s", text, err, tc.json)
		}
		var back headcount.PageCount
		if err := json.Unmarshal(text, &back); err != nil || back != tc.count {
			t.Errorf("%s came back as %+v, %v", text, back, err)
		}
	}
}

// Rendering a count for an answer costs no allocation.
func TestBucketAndDisplayAllocateNothing(t *testing.T) {
	buf := make([]byte, 0, 32)
	c := headcount.PageCount{Count: 12_345}
	if n := testing.AllocsPerRun(100, func() { buf = c.AppendDisplay(c.AppendBucket(buf[:0])) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}

func ExamplePageCount() {
	c := headcount.PageCount{PageID: "shoe-1", Count: 1234}
	fmt.Println(c.Bucket(), c.Display())
	// Output: 1200+ 1.2K+
}
