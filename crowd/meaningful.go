package crowd

import (
	"bytes"

	"github.com/headcount-live/headcount"
)

// Below smallCount every change is worth telling; beyond, one of 5 %, or of 2 %
// if it crosses into another bucket.
const smallCount = 20

// meaningful reports whether a reader who was told one count should be told of
// another. It decides only that, never what a read returns.
func meaningful(told, now headcount.PageCount) bool {
	if told.Degraded || now.Degraded {
		return told.Degraded != now.Degraded || told.Popular != now.Popular
	}
	if told.Count == now.Count {
		return false
	}
	if min(told.Count, now.Count) < smallCount {
		return true
	}
	change := max(told.Count-now.Count, now.Count-told.Count)
	if change*20 >= told.Count {
		return true
	}
	return change*50 >= told.Count && otherBucket(told.Count, now.Count)
}

func otherBucket(a, b int64) bool {
	var x, y [16]byte
	return !bytes.Equal(headcount.AppendBucket(x[:0], a), headcount.AppendBucket(y[:0], b))
}
