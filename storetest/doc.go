// Package storetest says what every store must do: one suite of tests and
// benchmarks for each contract of package headcount. A store's own test is a few
// lines that open one.
package storetest
