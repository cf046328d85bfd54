package headcount

import (
	"context"
	"iter"
)

// LeaseStore keeps the leases of accounts and decides about them. It holds no
// policy: the caller passes every input of a decision and gets facts back. All
// arithmetic is on the store's own clock; the TTL is given when a store is made.
//
// Each method is one indivisible step on one account. Implementations are safe
// for concurrent use, copy what they keep of their arguments, and may block for
// as long as ctx allows but never longer. An error means that the step may or
// may not have happened; the store in this process never returns one.
type LeaseStore interface {
	// Acquire drops the account's expired leases, looks for the device, counts,
	// decides and adds. A device that holds a lease always gets the new one: its
	// old lease ends as replaced and the count does not grow. Otherwise the play
	// is admitted if fewer than Limit leases are live, the one named by Replace
	// not counted. Asking again with a lease that is live already changes nothing
	// and is admitted.
	Acquire(ctx context.Context, req *AcquireRequest) (AcquireResult, error)

	// Renew gives the lease one full TTL from now. A lease that expired or never
	// was is never revived, unless Revive allows it.
	Renew(ctx context.Context, req *RenewRequest) (RenewResult, error)

	// RenewBatch renews many leases, of any accounts, in one call, each as Renew
	// would. It fills results[i] for reqs[i]; the two have the same length.
	RenewBatch(ctx context.Context, reqs []RenewRequest, results []RenewResult)

	// Release ends a lease without a tombstone and reports whether it was live.
	Release(ctx context.Context, account AccountHash, lease LeaseID) (bool, error)

	// Stop ends a live lease, leaves a tombstone that says force_stopped, and
	// reports whether it was live.
	Stop(ctx context.Context, account AccountHash, lease LeaseID) (bool, error)

	// StopAll ends every live lease of the account as Stop does and returns how many.
	StopAll(ctx context.Context, account AccountHash) (int, error)

	// List returns the live leases, oldest first, with StreamID left empty.
	List(ctx context.Context, account AccountHash) ([]Lease, error)

	// Watch tells how a lease ends: the channel carries one value and is closed,
	// or is closed without one when ctx ends. A lease that was stopped already
	// answers at once; one that is unknown or lapsed is an [Error] with
	// [CodeLeaseExpired]. Watching is no renewal.
	Watch(ctx context.Context, account AccountHash, lease LeaseID) (<-chan Ended, error)

	// Generation returns the generation of the account's shard, as last seen, to
	// mint ids with. It never blocks.
	Generation(account AccountHash) uint32

	// LookGeneration asks the shard for its generation now.
	LookGeneration(ctx context.Context, account AccountHash) (Generation, error)
}

// AcquireRequest asks for a lease.
type AcquireRequest struct {
	Account AccountHash
	Device  DeviceHash
	Lease   LeaseID // minted by the caller, so that it is known even if the answer is lost
	Limit   int     // how many leases may be live at once
	Replace LeaseID // stop this one if the play is admitted; zero, unknown or foreign: none
	Meta    Metadata
}

// AcquireResult is the decision and its facts.
type AcquireResult struct {
	Admitted bool
	TookOver bool    // the device held a lease already, which ended as replaced
	Active   []Lease // on a denial: who holds the slots, oldest first
}

// RenewRequest proves that a lease's holder is alive.
type RenewRequest struct {
	Account AccountHash
	Lease   LeaseID
	Meta    Metadata // the parts given replace those kept
	// Revive, above zero, lets an unknown lease re-register while fewer than that
	// many are live on the account and none of them is the same device's. The
	// caller decides when that is right (after a loss of memory); the store obeys.
	// A lease with a tombstone is never revived.
	Revive int
}

// RenewState says what became of a renewal.
type RenewState uint8

// The outcomes of a renewal.
const (
	RenewUnknown      RenewState = iota // expired, released or never seen
	RenewOK                             // lives for one more TTL
	RenewReregistered                   // lives again, its metadata forgotten
	RenewStopped                        // has a tombstone; Ended says why
)

// RenewResult is the outcome of one renewal. Err is set only by RenewBatch,
// where each item can fail by itself.
type RenewResult struct {
	State RenewState
	Ended Ended
	Err   error
}

// Generation is one life of a shard's memory. A store that lost its leases is a
// new generation.
type Generation struct {
	ID    uint32
	Fresh bool // began less than one TTL ago, after a loss
}

// PlanStore keeps the plans of accounts. Implementations are safe for concurrent
// use and may block for as long as ctx allows.
type PlanStore interface {
	// Plans returns the rows of the accounts that have one, in any order, in one query.
	Plans(ctx context.Context, accounts []string) ([]Plan, error)

	// PutPlan replaces the account's row and returns it with its UpdatedAt. The
	// row has passed [Plan.Check].
	PutPlan(ctx context.Context, p Plan) (Plan, error)

	// DeletePlan removes the account's row, so that the default plan holds again,
	// and reports whether there was one.
	DeletePlan(ctx context.Context, account string) (bool, error)

	// ImportPlans replaces the rows of all accounts that plans yields, all of them
	// or, when plans yields an error or the store fails, none. It returns how many.
	ImportPlans(ctx context.Context, plans iter.Seq2[Plan, error]) (int, error)

	// ExportPlans yields all rows by ascending account id, as of one moment.
	ExportPlans(ctx context.Context) iter.Seq2[Plan, error]

	// FollowPlans calls changed with accounts whose rows changed since the call
	// began or since the last call on this store returned, in commit order,
	// whoever changed them. all means that any row may have changed (the first
	// call, or history was lost). It blocks until ctx ends or the feed fails; the
	// caller calls again after a pause.
	FollowPlans(ctx context.Context, changed func(accounts []string, all bool)) error
}
