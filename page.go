package headcount

import (
	"encoding/json"
	"strconv"
)

// PageCount is what a reader is told about one page.
//
// Count is the number of distinct viewers, and zero where Degraded says that no
// current number is known: then only Popular is.
type PageCount struct {
	PageID   string
	Count    int64
	Approx   bool    // a sketch took part
	ErrorPct float64 // its standard error in percent, 0 unless Approx
	Degraded bool    // what is known is too old to be told as a number
	Popular  bool    // with Degraded: the last good count was PopularFrom or more
	TS       int64   // when it was known, in Unix milliseconds
}

// PopularFrom is the last good count from which a degraded page is popular.
const PopularFrom = 20

// Bucket returns the name of the range the count lies in, "popular" or "quiet"
// for a degraded page.
func (c PageCount) Bucket() string { return string(c.AppendBucket(nil)) }

// AppendBucket appends Bucket to b.
func (c PageCount) AppendBucket(b []byte) []byte {
	switch {
	case !c.Degraded:
		return AppendBucket(b, c.Count)
	case c.Popular:
		return append(b, "popular"...)
	default:
		return append(b, "quiet"...)
	}
}

// Display returns what a page may show to people. It never claims more viewers
// than there are.
func (c PageCount) Display() string { return string(c.AppendDisplay(nil)) }

// AppendDisplay appends Display to b.
func (c PageCount) AppendDisplay(b []byte) []byte {
	switch {
	case !c.Degraded:
		return AppendDisplay(b, c.Count)
	case c.Popular:
		return append(b, "Popular today"...)
	default:
		return b
	}
}

// AppendBucket appends the bucket of a count to b: "0", half-open tens up to
// "90-100" (the first is "1-10"), then lower bounds of two leading digits with a
// plus, up to "100000+". It is a pure function of count; below zero is zero.
func AppendBucket(b []byte, count int64) []byte {
	switch {
	case count <= 0:
		return append(b, '0')
	case count < 10:
		return append(b, "1-10"...)
	case count < 100:
		low := count / 10 * 10
		b = strconv.AppendInt(b, low, 10)
		b = append(b, '-')
		return strconv.AppendInt(b, low+10, 10)
	default:
		return append(strconv.AppendInt(b, twoDigitFloor(count), 10), '+')
	}
}

// AppendDisplay appends the display text of a count to b: the number below 100,
// then its floor to two significant digits with a plus ("120+", "1.2K+", "15K+"),
// at last "100K+". It is a pure function of count; below zero is zero.
func AppendDisplay(b []byte, count int64) []byte {
	if count < 100 {
		return strconv.AppendInt(b, max(count, 0), 10)
	}
	low := twoDigitFloor(count)
	if low < 1000 {
		return append(strconv.AppendInt(b, low, 10), '+')
	}
	b = strconv.AppendInt(b, low/1000, 10)
	if tenth := low % 1000 / 100; tenth > 0 {
		b = append(b, '.', byte('0'+tenth))
	}
	return append(b, "K+"...)
}

// twoDigitFloor rounds a count of 100 or more down to its two leading digits, and
// to 100,000 at most.
func twoDigitFloor(count int64) int64 {
	const most = 100_000
	if count >= most {
		return most
	}
	unit := int64(10)
	for count >= unit*100 {
		unit *= 10
	}
	return count / unit * unit
}

// pageCountJSON is the JSON of a PageCount.
type pageCountJSON struct {
	PageID   string   `json:"page_id,omitempty"`
	Count    *int64   `json:"count"`
	Bucket   string   `json:"bucket"`
	Display  string   `json:"display"`
	Approx   *bool    `json:"approx,omitempty"`
	ErrorPct *float64 `json:"error_pct,omitempty"`
	Degraded bool     `json:"degraded,omitempty"`
	TS       int64    `json:"ts,omitempty"`
}

// MarshalJSON writes the count as the API answers it: with its bucket and display
// text, error_pct only where a sketch took part, and null for a degraded count.
func (c PageCount) MarshalJSON() ([]byte, error) {
	out := pageCountJSON{PageID: c.PageID, Bucket: c.Bucket(), Display: c.Display(), Degraded: c.Degraded, TS: c.TS}
	if !c.Degraded {
		out.Count, out.Approx = &c.Count, &c.Approx
		if c.Approx {
			out.ErrorPct = &c.ErrorPct
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. Bucket and display follow from the
// rest, so all that is read of them is whether a degraded page is popular.
func (c *PageCount) UnmarshalJSON(data []byte) error {
	var in pageCountJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*c = PageCount{PageID: in.PageID, Degraded: in.Degraded || in.Count == nil, TS: in.TS}
	if c.Degraded {
		c.Popular = in.Bucket == "popular"
		return nil
	}
	c.Count = *in.Count
	if in.Approx != nil {
		c.Approx = *in.Approx
	}
	if in.ErrorPct != nil {
		c.ErrorPct = *in.ErrorPct
	}
	return nil
}
