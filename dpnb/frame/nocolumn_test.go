package frame

import (
	"strings"
	"testing"
)

// Where a record stands in the place of the header, the error of a column that is not there tells none of its values.
func TestNoColumnTellsNoRecord(t *testing.T) {
	err := noColumn("age", []string{"E00017", "60602.88", "Bern"})
	for _, told := range []string{"E00017", "60602", "Bern"} {
		if strings.Contains(err.Error(), told) {
			t.Errorf("%s is told: %v", told, err)
		}
	}
	if !strings.Contains(err.Error(), "name the columns with Header") {
		t.Error(err)
	}
	if err := noColumn("free", []string{"Comment, free", "age"}); !strings.Contains(err.Error(),
		`are "Comment, free", "age"`) {
		t.Error(err)
	}
	if err := noColumn("Age", []string{"age", "NaN", "inf"}); !strings.Contains(err.Error(),
		"(age?); the columns are age, NaN, inf") {
		t.Error(err)
	}
}
