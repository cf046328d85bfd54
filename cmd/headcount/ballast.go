package main

// ballastBytes is how much the garbage collector is made to believe the server
// holds on to.
const ballastBytes = 32 << 20

// newBallast returns memory that is never touched, so that the system never
// backs it with pages. Leases and viewers live outside the heap, which leaves so
// little in it that a collection would come after every 4 MB of requests, about a
// thousand of them. With the ballast one comes after every 32 MB at the earliest,
// for at most as much more resident memory: a heartbeat over HTTP costs a
// twentieth less. GOGC and GOMEMLIMIT keep their meaning.
//
// The caller keeps it alive for as long as it serves.
func newBallast() []byte { return make([]byte, ballastBytes) }
