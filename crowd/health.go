package crowd

import "log/slog"

// storeHealth says once when the store fails and once when it is back.
type storeHealth struct {
	logger  *slog.Logger
	failing bool
}

func (h *storeHealth) observe(err error) {
	switch failing := err != nil; {
	case failing == h.failing:
		return
	case failing:
		h.logger.Error("the store of page counts fails; readers see the last good counts, then none", "err", err)
	default:
		h.logger.Info("the store of page counts works again")
	}
	h.failing = !h.failing
}
