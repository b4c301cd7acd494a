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

// repeated refuses e if its name was charged before. The caller has loaded.
func (b *Budget) repeated(e Entry) error {
	for _, old := range b.entries {
		if e.Once != "" && old.Once == e.Once {
			return &RepeatedError{b.config.Name, e.Once}
		}
	}
	return nil
}
