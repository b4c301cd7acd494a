package notebook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// defaultTolerance is how far, relatively, a number of a rerun may lie from the committed one unless the cell or the
// notebook says otherwise.
const defaultTolerance = 1e-6

// A Difference is an output that a rerun did not give again.
type Difference struct {
	Cell int // number of the cell, from 1
	Text string
}

// settings steers how outputs are compared. It stands as the object "dpnb" in the metadata of a cell or, for all cells,
// of the notebook:
//
//	"dpnb": {"tolerance": 0.05}         numbers within 5 %
//	"dpnb": {"absolute": 1e-9}          or within 1e-9 of each other
//	"dpnb": {"compare": "presence"}     only that there is output of the same kinds
//	"dpnb": {"compare": "skip"}         nothing
//
// and for the whole notebook, which data sets its outputs were made with:
//
//	"dpnb": {"data": ["adult"]}         compare only where these are
type settings struct {
	Compare   string   `json:"compare"`
	Tolerance *float64 `json:"tolerance"` // relative
	Absolute  float64  `json:"absolute"`
	Data      []string `json:"data"`
}

// Data returns the names of the data sets that the committed outputs were made with.
func (nb *Notebook) Data() ([]string, error) {
	c, err := comparison(nb.fields)
	return c.Data, err
}

// Values of settings.Compare.
const (
	compareText     = ""
	comparePresence = "presence"
	compareSkip     = "skip"
)

// Compare returns what differs between the committed outputs of a notebook and those of a rerun of the same cells: text
// word for word and number for number within the tolerance; pictures only by being there. Times, places in the file
// system and the spacing of columns do not count.
func Compare(committed, rerun *Notebook) ([]Difference, error) {
	if len(committed.Cells) != len(rerun.Cells) {
		return nil, fmt.Errorf("%d cells were committed and %d were run", len(committed.Cells), len(rerun.Cells))
	}
	committed.JoinStreams()
	rerun.JoinStreams()
	var found []Difference
	for i, c := range committed.Cells {
		if c.Type() != "code" {
			continue
		}
		how, err := comparison(committed.fields, c.fields)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		if text := how.outputs(c.Outputs(), rerun.Cells[i].Outputs()); text != "" {
			found = append(found, Difference{Cell: i + 1, Text: text})
		}
	}
	return found, nil
}

// comparison reads the settings of a notebook, and those of a cell over them.
func comparison(of ...map[string]any) (how settings, err error) {
	for _, fields := range of {
		written, ok := object(fields, "metadata")["dpnb"]
		if !ok {
			continue
		}
		content, err := json.Marshal(written)
		if err != nil {
			return how, err
		}
		if err := json.Unmarshal(content, &how); err != nil {
			return how, fmt.Errorf("metadata dpnb: %w", err)
		}
		if !slices.Contains([]string{compareText, comparePresence, compareSkip}, how.Compare) {
			return how, fmt.Errorf("metadata dpnb: compare is %q; it may be %q or %q", how.Compare, comparePresence,
				compareSkip)
		}
	}
	return how, nil
}

// outputs describes how two lists of outputs differ, or returns "".
func (how settings) outputs(committed, rerun []Output) string {
	if how.Compare == compareSkip {
		return ""
	}
	// Streams and displays arrive by different ways, so their order among each other is chance.
	byKind := func(a, b Output) int { return cmp.Compare(a.Kind, b.Kind) }
	slices.SortStableFunc(committed, byKind)
	slices.SortStableFunc(rerun, byKind)
	if a, b := kinds(committed), kinds(rerun); a != b {
		return fmt.Sprintf("committed outputs: %s\nrerun outputs:     %s\n%s", a, b, newErrors(committed, rerun))
	}
	if how.Compare == comparePresence {
		return ""
	}
	var b strings.Builder
	for i := range committed {
		b.WriteString(how.texts(committed[i].Text, rerun[i].Text))
	}
	return b.String()
}

func kinds(list []Output) string {
	var names []string
	for _, o := range list {
		name := o.Kind
		if o.Types != nil {
			name = strings.Join(o.Types, "+")
		}
		names = append(names, name)
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// newErrors shows what a rerun wrote on the way to failing.
func newErrors(committed, rerun []Output) string {
	var b strings.Builder
	for _, o := range rerun {
		if (o.Kind == "error" || o.Kind == "stderr") &&
			!slices.ContainsFunc(committed, func(c Output) bool { return c.Kind == o.Kind }) {
			fmt.Fprintf(&b, "%s: %s\n", o.Kind, strings.TrimSpace(o.Text))
		}
	}
	return b.String()
}

// texts returns the lines in which two texts differ, "-" committed, "+" rerun.
func (how settings) texts(committed, rerun string) string {
	a, b := normalLines(committed), normalLines(rerun)
	var out strings.Builder
	for _, step := range align(a, b, how.sameLine) {
		switch {
		case step.b < 0:
			fmt.Fprintf(&out, "- %s\n", a[step.a])
		case step.a < 0:
			fmt.Fprintf(&out, "+ %s\n", b[step.b])
		}
	}
	return out.String()
}

var (
	ansiPattern = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// How the kernel marks a place in a cell, if it happens to see it in one piece.
	placePattern = regexp.MustCompile(`\[\[ Cell (?:\[\d+\] )?Line \d+ \]\] ?`)
	// Go's own durations (1m2.5s, 340µs) and those written with a space (2.5 ms).
	timePattern = regexp.MustCompile(
		`\b(?:\d+(?:\.\d+)?(?:h|m|s|ms|µs|μs|us|ns))+\b|\b\d+(?:\.\d+)? (?:h|min|seconds?|s|ms|µs|μs|us|ns)\b`)
	datePattern = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| ?[+-]\d\d:?\d\d)?`)
	// Absolute paths of two or more parts, and Go's addresses.
	pathPattern    = regexp.MustCompile(`(^|[\s"'(=:>])(?:/[\w.@+~-]+){2,}/?`)
	addressPattern = regexp.MustCompile(`\b0x[0-9a-f]+\b`)
	kernelPattern  = regexp.MustCompile(`\bgonb_[0-9a-zA-Z_]+\b`)
	spacePattern   = regexp.MustCompile(`[ \t]+`)
	rulePattern    = regexp.MustCompile(`[-=─═]{4,}`)
)

// normalLines cuts a text into lines in which what may differ from run to run has been given a name.
func normalLines(s string) []string {
	s = ansiPattern.ReplaceAllString(s, "")
	s = placePattern.ReplaceAllString(s, "")
	s = datePattern.ReplaceAllString(s, "<time>")
	s = timePattern.ReplaceAllString(s, "<time>")
	s = pathPattern.ReplaceAllString(s, "$1<path>")
	s = addressPattern.ReplaceAllString(s, "<address>")
	s = kernelPattern.ReplaceAllString(s, "<kernel>")
	s = rulePattern.ReplaceAllString(s, "----")
	s = spacePattern.ReplaceAllString(s, " ")
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(s), "\n") {
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

var numberPattern = regexp.MustCompile(`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`)

// sameLine reports whether two lines have the same words and, within the tolerance, the same numbers.
func (how settings) sameLine(a, b string) bool {
	if a == b {
		return true
	}
	x, y := numberPattern.FindAllString(a, -1), numberPattern.FindAllString(b, -1)
	if len(x) != len(y) || numberPattern.ReplaceAllString(a, "#") != numberPattern.ReplaceAllString(b, "#") {
		return false
	}
	for i := range x {
		if !how.sameNumber(x[i], y[i]) {
			return false
		}
	}
	return true
}

// sameNumber reports whether two printed numbers agree within the tolerance.
func (how settings) sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return false
	}
	tolerance := defaultTolerance
	if how.Tolerance != nil {
		tolerance = *how.Tolerance
	}
	return math.Abs(x-y) <= max(how.Absolute, tolerance*max(math.Abs(x), math.Abs(y)))
}

// step is one line of an alignment: of both texts, or of one (the other is -1).
type step struct{ a, b int }

// align returns the longest common subsequence of two lists of lines with what is left out of it, in order.
func align(a, b []string, same func(x, y string) bool) []step {
	// length[i][j] is that of the longest common subsequence of a[i:] and b[j:].
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(a[i], b[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var steps []step
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && same(a[i], b[j]):
			steps = append(steps, step{i, j})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			steps = append(steps, step{i, -1})
			i++
		default:
			steps = append(steps, step{-1, j})
			j++
		}
	}
	return steps
}
