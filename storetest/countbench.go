package storetest

import (
	"testing"

	"github.com/headcount-live/headcount"
)

// BenchmarkCounts measures what one node asks of a store in one report interval:
// 64 partitions of 16 KiB written, kept, read whole and read unchanged, in calls
// of eight.
func BenchmarkCounts(b *testing.B, s headcount.CountStore) {
	const partitions, batch, size = 64, 8, 16 << 10
	var whole, unchanged, anything [][]headcount.PartitionValue
	for p := range partitions {
		if p%batch == 0 {
			whole, unchanged, anything = append(whole, nil), append(unchanged, nil), append(anything, nil)
		}
		last := len(whole) - 1
		whole[last] = append(whole[last], headcount.PartitionValue{Partition: p, Node: 1, Version: 1, Data: make([]byte, size)})
		unchanged[last] = append(unchanged[last], kept(p, 1))
		anything[last] = append(anything[last], ask(p, 1))
	}
	put := func(values []headcount.PartitionValue) error {
		_, err := s.PutSnapshots(b.Context(), values)
		return err
	}
	read := func(values []headcount.PartitionValue) error {
		_, err := s.Snapshots(b.Context(), values)
		return err
	}
	for _, bench := range []struct {
		name   string
		do     func([]headcount.PartitionValue) error
		values [][]headcount.PartitionValue
	}{
		{"Put", put, whole},
		{"Keep", put, unchanged},
		{"Read", read, anything},
		{"ReadUnchanged", read, unchanged},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				for _, values := range bench.values {
					if err := bench.do(values); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
