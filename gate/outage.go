package gate

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// recovered is how long the store must not have failed before it counts as well
// again: a shard that fails beside shards that answer is one outage, not many.
const recovered = 10 * time.Second

// outage logs that the store fails, and that it works again, once each.
type outage struct {
	log  *slog.Logger
	last atomic.Int64 // Unix nanoseconds of the last failure, 0 while all is well
}

// failed notes that the store failed.
func (o *outage) failed(err error) {
	if o.last.Swap(time.Now().UnixNano()) == 0 {
		o.log.Error("the live-state store fails; streams cannot be decided about", "error", err)
	}
}

// ok notes that the store answered. While all is well it costs one load.
func (o *outage) ok() {
	last := o.last.Load()
	if last == 0 || time.Now().UnixNano()-last < int64(recovered) {
		return
	}
	if o.last.CompareAndSwap(last, 0) {
		o.log.Info("the live-state store answers again")
	}
}
