package cop

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Notebook 04 names the methods that its figures leave out, and where they are instead.
func TestMethodsThatFiguresLeaveOut(t *testing.T) {
	text, err := os.ReadFile("../../../notebooks/04_convolution.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	notebook := string(text)
	if !strings.Contains(notebook, "it leaves out three of these methods: C-OP as corrected, whose slope is in "+
		"section 5, and Huber and the front door, which are in the table of all runs below") {
		t.Error("the notebook does not say which methods its figure leaves out")
	}
	_, header, _ := strings.Cut(notebook, "| n | ε | ")
	header, _, _ = strings.Cut(header, " |\\n")
	inTable := strings.Split(header, " | ")
	named := func(arms []Arm) (names []string) {
		for _, a := range arms {
			names = append(names, a.Name)
		}
		return names
	}
	shown := named(Compared())
	var left []string
	for _, name := range named(baseArms) {
		if !slices.Contains(shown, name) {
			left = append(left, name)
		}
		if there := slices.Contains(inTable, name); there != (name != Corrected().Name) {
			t.Errorf("%s in the table of all runs: %v", name, there)
		}
	}
	want := []string{Corrected().Name, Huber().Name, FrontDoor().Name}
	if !slices.Equal(left, want) || len(inTable) != len(baseArms)-1 {
		t.Errorf("left out are %q, in the table %q", left, inTable)
	}
}
