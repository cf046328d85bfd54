// Package load is the people: made-up viewers and players that benchmarks drive the
// engines and the server with, and the histograms in which their waiting is kept.
package load
