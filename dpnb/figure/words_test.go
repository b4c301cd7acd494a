package figure

import "testing"

func TestWords(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	f := New("Noise", "records", "σ").
		Line("ours", x, []float64{8, 4, 2, 1}, Blue).
		Dashed("theirs", x, []float64{2, 9, 3, 9}, Orange).
		Line("same", x, []float64{1, 1.1, 1, 1.1}, Green).
		Line("hill", x, []float64{1, 5, 9, 2}, Gray).
		Line("", x, x, Gray).
		Dots("simulated", x, x, Gray).
		Level("limit", 1, 4, 5, Gray).
		Note("here", 1, 1, Gray)
	want := "Noise. σ against records. Ours falls; theirs rises, then falls, then rises; same is level; hill rises, " +
		"then falls. From the top at the right: theirs, limit, hill, same with ours. Labelled: simulated, here."
	if got := f.Words(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if f.Alt = "short"; f.Words() != "Noise. Short." {
		t.Error("what was written is not taken")
	}
	rows := New("Means", "years", "").Intervals([]string{"a", "b"}, x[:2], x[1:3], x[2:4], Blue)
	if got := rows.Words(); got != "Means. Years. Labelled: a 2 (1 to 3), b 3 (2 to 4)." {
		t.Error(got)
	}
	steep := New("", "n", "risk").LogY().Line("risk", x, []float64{1, 1e-2, 1e-4, 1e-2}, Blue)
	if got := steep.Words(); got != "Risk against n. Risk falls, then rises." {
		t.Error(got)
	}
}
