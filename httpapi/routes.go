package httpapi

// publicRoutes is the table of the public listener.
func (s *Server) publicRoutes() []route {
	streams := newOrigins(s.config.CORSOrigins)
	open := newOrigins([]string{"*"})
	pages := open
	if len(s.config.PresenceOrigins) > 0 {
		pages = newOrigins(s.config.PresenceOrigins)
	}
	return []route{
		{methods: "POST", pattern: "/v1/streams", call: s.play, limit: bodyLimit, origins: streams},
		{methods: "PUT POST", pattern: "/v1/streams/{stream_id}/heartbeat", call: s.heartbeat, limit: bodyLimit, origins: streams},
		{methods: "POST", pattern: "/v1/streams/heartbeat:batch", call: s.heartbeatBatch, limit: batchLimit, origins: streams},
		{methods: "DELETE", pattern: "/v1/streams/{stream_id}", call: s.release, limit: bodyLimit, origins: streams},
		{methods: "POST", pattern: "/v1/streams/{stream_id}/release", call: s.release, limit: bodyLimit, origins: streams},
		{methods: "GET", pattern: "/v1/streams/{stream_id}/events", stream: s.streamEvents, origins: streams},
		{methods: "GET", pattern: "/v1/accounts/{account_id}/streams", call: s.listStreams, origins: streams},
		{methods: "POST", pattern: "/v1/accounts/{account_id}/streams/{stream_id}/force-stop", call: s.forceStop, origins: streams},
		{methods: "POST", pattern: "/v1/accounts/{account_id}/force-stop", call: s.forceStopAll, origins: streams},

		{methods: "POST", pattern: "/api/v1/presence/heartbeat", call: s.presenceBeat, limit: bodyLimit, origins: pages},
		{methods: "POST", pattern: "/api/v1/presence/heartbeat:batch", call: s.presenceBeats, limit: batchLimit, origins: pages},
		{methods: "POST", pattern: "/api/v1/presence/leave", call: s.presenceLeave, limit: bodyLimit, origins: pages},
		{methods: "GET", pattern: "/api/v1/pages/{page_id}/viewer-count", call: s.viewerCount, origins: pages},
		{methods: "GET POST", pattern: "/api/v1/pages/viewer-count:batch", call: s.viewerCounts, limit: batchLimit, origins: pages},
		{methods: "GET", pattern: "/api/v1/pages/{page_id}/viewer-count/stream", stream: s.pageStream, origins: pages},
		{methods: "GET", pattern: "/api/v1/pages/viewer-count:stream", stream: s.gridStream, origins: pages},

		{methods: "GET", pattern: "/healthz", call: s.healthy},
		{methods: "GET", pattern: "/readyz", call: s.ready},
		{methods: "GET", pattern: "/openapi.yaml", call: s.openAPI, origins: open},
	}
}

// adminRoutes is the table of the admin listener.
func (s *Server) adminRoutes() []route {
	routes := []route{
		{methods: "GET", pattern: "/"},
		{methods: "GET", pattern: "/healthz", call: s.healthy},
		{methods: "GET", pattern: "/readyz", call: s.ready},
		{methods: "GET", pattern: "/metrics", stream: s.metricsPage()},

		{methods: "GET", pattern: "/debug/pprof/", stream: profile},
		{methods: "GET POST", pattern: "/debug/pprof/{profile}", stream: profile},

		{methods: "GET", pattern: "/admin/v1/settings", call: s.settings},
		{methods: "GET", pattern: "/admin/v1/accounts/{account_id}/plan", call: s.getPlan},
		{methods: "PUT", pattern: "/admin/v1/accounts/{account_id}/plan", call: s.putPlan, limit: bodyLimit},
		{methods: "DELETE", pattern: "/admin/v1/accounts/{account_id}/plan", call: s.deletePlan},
		{methods: "GET", pattern: "/admin/v1/accounts/{account_id}/streams", call: s.listStreams},
		{methods: "POST", pattern: "/admin/v1/accounts/{account_id}/streams/{stream_id}/force-stop", call: s.forceStop},
		{methods: "POST", pattern: "/admin/v1/accounts/{account_id}/force-stop", call: s.forceStopAll},
	}
	routes[0].call = indexPage("headcount, admin listener", routes)
	guard := newAdminGuard(s.config.AdminToken)
	for i := range routes {
		routes[i].guard = guard.check
	}
	return routes
}
