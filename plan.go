package headcount

import "maps"

// MaxStreamsLimit is the largest number of simultaneous streams a plan may grant.
const MaxStreamsLimit = 64

// Status says whether an account may start streams.
type Status string

// The statuses of an account. Any other is refused.
const (
	StatusActive  Status = "active"
	StatusPaused  Status = "paused"
	StatusChurned Status = "churned"
)

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool {
	return s == StatusActive || s == StatusPaused || s == StatusChurned
}

// Plan is one account's row.
type Plan struct {
	AccountID  string    `json:"account_id"`
	Plan       string    `json:"plan"`
	MaxStreams *int      `json:"max_streams"` // nil: the catalogue decides; otherwise it always wins
	Status     Status    `json:"status"`
	UpdatedAt  Timestamp `json:"updated_at"` // set by the store
}

// Check reports why the row cannot be stored, as an [Error], or nil. A plan
// that the catalogue does not know needs its own MaxStreams.
func (p Plan) Check(c Catalogue) error {
	if err := CheckID("account_id", p.AccountID, MaxIDLen); err != nil {
		return err
	}
	if err := CheckID("plan", p.Plan, MaxIDLen); err != nil {
		return err
	}
	if !p.Status.Valid() {
		return FieldError(CodeInvalidField, "status", "status must be active, paused or churned, not %q", string(p.Status))
	}
	if p.MaxStreams != nil {
		if n := *p.MaxStreams; n < 0 || n > MaxStreamsLimit {
			return FieldError(CodeInvalidField, "max_streams", "max_streams must be 0 to %d, not %d", MaxStreamsLimit, n)
		}
		return nil
	}
	if _, ok := c[p.Plan]; !ok {
		return FieldError(CodeInvalidField, "plan", "plan %q is not in the catalogue; name one that is, or give max_streams", p.Plan)
	}
	return nil
}

// Catalogue maps a plan's name to the streams it allows at once.
type Catalogue map[string]int

// DefaultCatalogue returns the catalogue used where none is configured.
func DefaultCatalogue() Catalogue {
	return Catalogue{"basic": 1, "standard": 2, "premium": 4}
}

// Largest returns the highest limit of the catalogue: what an account gets when
// its plan cannot be known, because our fault never denies a payer.
func (c Catalogue) Largest() int {
	most := 0
	for n := range maps.Values(c) {
		most = max(most, n)
	}
	return most
}

// Limit returns how many streams the row allows at once. A plan that has left
// the catalogue since it was stored counts as the largest.
func (c Catalogue) Limit(p Plan) int {
	if p.MaxStreams != nil {
		return *p.MaxStreams
	}
	if n, ok := c[p.Plan]; ok {
		return n
	}
	return c.Largest()
}
