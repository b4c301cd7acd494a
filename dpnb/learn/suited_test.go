package learn

import (
	"fmt"
	"path/filepath"
	"testing"
)

// The target's public field decides on the learner; the fit goes through for each, with the schema
// of a file.
func TestSuited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "patients.schema.json")
	people := Patients(3000, 1).Drop("visits") // which is then in no schema that is saved
	if err := people.SaveSchema(path); err != nil {
		t.Fatal(err)
	}
	people = people.WithSchemaFile(path)
	for target, want := range map[string]string{
		"ill": "learn.SVM", "ward": "learn.Softmax", "pressure": "learn.Huber",
	} {
		l, data := Suited(people, target, RowNorm(1))
		if got := fmt.Sprintf("%T", l); got != want {
			t.Errorf("%s is learnt by %s, want %s", target, got, want)
		}
		if err := data.Err(); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	// Of people with several rows, what each of them costs is known.
	several := people.PerPerson("age", 2)
	for target, want := range map[string]string{
		"ill": "learn.SVM", "ward": "learn.OneVsRest", "pressure": "learn.Linear",
	} {
		l, data := Suited(several, target, RowNorm(1))
		if got := fmt.Sprintf("%T", l); got != want {
			t.Errorf("%s is learnt by %s, want %s", target, got, want)
		}
		if _, err := l.Fit(data, NewBudget(1, 1e-6, Named(t.Name()+target)).Spend(1)); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if _, data := Suited(people, "nobody"); data.Err() == nil {
		t.Error("a target that is not there is let pass")
	}
	if err := people.WithSchemaFile(path + "x").Err(); err == nil {
		t.Error("a schema file that is not there is let pass")
	}
}
