module github.com/headcount-live/headcount/bench

go 1.26.0

replace github.com/headcount-live/headcount => ../

require (
	github.com/axiomhq/hyperloglog v0.3.0
	github.com/headcount-live/headcount v0.0.0-00010101000000-000000000000
	github.com/redis/rueidis v1.0.79
	github.com/retailnext/hllpp v1.0.1-0.20180308014038-101a6d2f8b52
	golang.org/x/sync v0.25.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgryski/go-metro v0.0.0-20250106013310-edb8663e5e33 // indirect
	github.com/kamstrup/intmap v0.5.2 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_golang v1.25.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.23.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
