// Package memory fulfils the store contracts in this process: leases in tables
// outside the garbage collector's heap, counts and plans in maps. It is what the
// embedded server runs on, and the fake of every test.
package memory
