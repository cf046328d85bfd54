module github.com/headcount-live/headcount/bench

go 1.26.0

replace github.com/headcount-live/headcount => ../

require (
	github.com/axiomhq/hyperloglog v0.3.0
	github.com/headcount-live/headcount v0.0.0-00010101000000-000000000000
	github.com/retailnext/hllpp v1.0.1-0.20180308014038-101a6d2f8b52
)

require (
	github.com/dgryski/go-metro v0.0.0-20250106013310-edb8663e5e33 // indirect
	github.com/kamstrup/intmap v0.5.2 // indirect
)
