package httpapi

import (
	"net/http"
	"net/http/pprof"
	profiles "runtime/pprof"
	"time"

	"github.com/headcount-live/headcount"
)

// profile answers GET /debug/pprof/ and what lies below it.
func profile(w http.ResponseWriter, r *http.Request, x *exchange) {
	page := pprof.Index // knows the named profiles and lists them
	switch name := x.args[0]; name {
	case "cmdline":
		page = pprof.Cmdline
	case "profile":
		page = pprof.Profile
	case "symbol":
		page = pprof.Symbol
	case "trace":
		page = pprof.Trace
	case "":
	default:
		if profiles.Lookup(name) == nil {
			x.fail(headcount.Errorf(headcount.CodeNotFound, "there is no profile of this name; /debug/pprof/ lists those there are"))
			return
		}
	}
	// A profile takes as long as it was asked to, and the server's read timeout
	// would end it by ending the request's context.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	x.sent, x.status = true, http.StatusOK
	page(w, r)
}
