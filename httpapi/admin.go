package httpapi

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// indexPage returns the answer to GET / of a listener: what else there is.
func indexPage(title string, routes []route) func(context.Context, *exchange) {
	page := []byte(title + "\n\n")
	for i := range routes {
		page = append(page, routes[i].methods+" "+routes[i].pattern+"\n"...)
	}
	return func(_ context.Context, x *exchange) {
		x.reply["Content-Type"] = []string{"text/plain; charset=utf-8"}
		x.out = append(x.out[:0], page...)
		x.ok()
	}
}

// settings answers GET /admin/v1/settings.
func (s *Server) settings(_ context.Context, x *exchange) {
	x.out = append(x.out[:0], s.config.Settings...)
	if len(x.out) == 0 {
		x.out = append(x.out, "{}"...)
	}
	x.ok()
}

// metricsPage returns the answer to GET /metrics, in the format that the scraper
// asks for.
func (s *Server) metricsPage() func(http.ResponseWriter, *http.Request, *exchange) {
	var from prometheus.Gatherer = prometheus.Gatherers{}
	if s.config.Gatherer != nil {
		from = s.config.Gatherer
	}
	page := promhttp.HandlerFor(from, promhttp.HandlerOpts{})
	return func(w http.ResponseWriter, r *http.Request, x *exchange) {
		x.sent, x.status = true, http.StatusOK
		page.ServeHTTP(w, r)
	}
}
