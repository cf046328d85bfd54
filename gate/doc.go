// Package gate decides whether an account may start one more stream, and keeps
// streams alive while their players beat.
//
// The gate holds the policy and no state: a [headcount.LeaseStore] decides each
// step indivisibly and answers with facts, [Plans] knows what an account pays
// for, and the gate mints stream ids, refuses those that are not genuine, and
// turns facts into answers.
//
//	           Play                    silent for one TTL
//	(nothing) ------> live ------------------------------> gone
//	                  |  ^ Heartbeat                        ^
//	                  |  |                                  | one TTL later
//	                  +--+-- Release ---------------------> |
//	                  |                                     |
//	                  +-- Stop, Play with Replace,          |
//	                      Play on the same device --> stopped (says why)
//
// A stream that is gone never comes back, but for one case: after the store lost
// its memory, the beat of a genuine id minted before the loss registers its
// stream again (see reregister.go).
//
// Strings in requests may be views of a buffer that is reused after the call:
// the gate keeps none of them, and stores copy what they keep.
package gate
