package learn_test

import (
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// In a plain program, in any folder, Adult returns people, and whatever is shown of them says which.
func TestAdultSaysWhoTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(dataset.DirEnv, "")
	train, test := learn.Adult()
	if train.Err() != nil || train.Rows() != dataset.AdultLikeTrainRows || test.Rows() != dataset.AdultLikeTestRows {
		t.Fatalf("%d and %d rows, %v", train.Rows(), test.Rows(), train.Err())
	}
	for _, it := range []string{train.Origin().Text(), train.Head(2).Display().Text(),
		learn.Binary(train.Head(10), "income").Display().Text()} {
		if !strings.HasPrefix(it, "[INVENTED PEOPLE") {
			t.Errorf("it is not said that these people are invented:\n%s", it)
		}
	}
	if it := learn.Patients(3, 1).Origin(); !it.Invented || it.Origin != "INVENTED: 3 invented patients, seed 1" {
		t.Errorf("patients: %+v", it)
	}
	if it := frameOf(t, people).Origin(); it.Origin != "" {
		t.Errorf("the user's own file: %+v", it)
	}
}
