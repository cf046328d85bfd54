// Package redis keeps live state on Redis 7 or Valkey 8: a single server, Sentinel
// or a Cluster.
//
// Each account is one key, hc1:{hash}, whose value packs its leases and
// tombstones; each operation is one script on that key, decided on the server's
// clock. The layout is described in script/prelude.lua. A key is gone when its last
// lease and tombstone are, at the latest half a TTL after they lapsed.
package redis
