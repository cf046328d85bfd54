package memory

import "testing"

// The accounts of a table are written each once, and from the first few on spread
// over all of it, so that the table they come back to never crowds at one end.
func TestSnapshotSpreadsAccounts(t *testing.T) {
	for _, slots := range []int{1, 1024, 2048, 5 * 1024, 13 * 1024, 618 * 1024} {
		step := stride(slots)
		visited := make([]bool, slots)
		var quarters [4]int
		for i, at := 0, 0; i < slots; i, at = i+1, (at+step)%slots {
			if visited[at] {
				t.Fatalf("%d slots: slot %d comes twice", slots, at)
			}
			visited[at] = true
			quarters[at*4/slots]++
			if i+1 == 100 {
				for q, n := range quarters {
					if n < 20 || n > 30 {
						t.Errorf("%d slots: %d of the first 100 lie in quarter %d", slots, n, q)
					}
				}
			}
		}
	}
}
