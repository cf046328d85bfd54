// Package headcount holds the nouns of the service: accounts, leases, plans,
// pages, the ids and keyed hashes that name them, the one error type, and the
// contracts that stores fulfil.
//
// headcount answers two questions from one primitive, the lease: a claim that
// its holder must keep proving by heartbeats. May this account start one more
// stream (package gate), and how many are looking at this page (package crowd).
// Nothing is ever counted up and down; every number is derived from leases that
// have not expired.
//
// This package imports only the standard library. Packages named after a
// technology (memory, sqldb, httpapi) adapt it and never import each other; only
// cmd/headcount knows them all.
package headcount
