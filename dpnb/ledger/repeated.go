package ledger

import "fmt"

// RepeatedError refuses a second charge under a name that was to be charged once.
type RepeatedError struct {
	Budget, Once string
}

// Error implements error.
func (e *RepeatedError) Error() string {
	return fmt.Sprintf("ledger: budget %q has been charged for %q before, and that once and for all: refused, nothing "+
		"was drawn and nothing spent", e.Budget, e.Once)
}

// repeated refuses entries of which a name was charged before. The caller has loaded.
func (b *Budget) repeated(entries []Entry) error {
	charged := map[string]bool{"": false}
	for _, e := range b.entries {
		charged[e.Once] = e.Once != ""
	}
	for _, e := range entries {
		if charged[e.Once] {
			return &RepeatedError{b.config.Name, e.Once}
		}
		charged[e.Once] = e.Once != ""
	}
	return nil
}
