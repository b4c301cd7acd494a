package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// Failure says where and why a notebook stopped, or which cells show an error.
type Failure struct {
	Cell    int    `json:"cell"`             // number among all cells, from 1; 0 where no cell had begun
	Count   string `json:"count,omitempty"`  // the number beside it, as in [3]
	Line    int    `json:"line,omitempty"`   // in the cell SourceCell, from 1; 0 where the kernel does not tell
	Source  string `json:"source,omitempty"` // that line
	Message string `json:"message"`
	// SourceCell is the cell of the line: an earlier one where a function that it declares was called.
	SourceCell int `json:"source_cell,omitempty"`
}

func (f *Failure) Error() string {
	where := fmt.Sprintf("cell %d", f.Cell)
	if f.Count != "" {
		where += fmt.Sprintf(" [%s]", f.Count)
	}
	if f.Cell == 0 {
		where = "before the first cell"
	}
	if f.Line > 0 {
		if f.SourceCell != f.Cell {
			where += fmt.Sprintf(", in what cell %d declares", f.SourceCell)
		}
		where += fmt.Sprintf(", line %d: %s", f.Line, f.Source)
	}
	return where + "\n" + f.Message
}

// shownErrors returns a failure if cells show an error where a result was to be, nil if none does: a cell that shows
// one goes on, and so does the notebook. Those with notebook.TagError do it on purpose.
func shownErrors(nb *notebook.Notebook) *Failure {
	var f *Failure
	var said strings.Builder
	n := 0
	for i, c := range nb.Cells {
		errors := shown(c)
		if c.Type() != "code" || c.HasTag(notebook.TagError) || errors == "" {
			continue
		}
		if n++; f == nil {
			f = &Failure{Cell: i + 1, Count: c.ExecutionCount()}
		}
		fmt.Fprintf(&said, "\ncell %d: %s", i+1, strings.ReplaceAll(errors, "\n", fmt.Sprintf("\ncell %d: ", i+1)))
	}
	if f != nil {
		f.Message = fmt.Sprintf("%d cells show an error", n)
		if n == 1 {
			f.Message = "1 cell shows an error"
		}
		f.Message += said.String()
	}
	return f
}

var (
	ansi = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// How the kernel names a place in a cell: at run time, and when compiling.
	runPlace     = regexp.MustCompile(`(?:\[\[ Cell \[(\d+)\] Line (\d+) \]\] )?\S*/main\.go:(\d+)`)
	compilePlace = regexp.MustCompile(`Cell\[(\d+)\]: Line (\d+)`)
	// What the compiler says about its own files tells a reader nothing.
	compileNoise = regexp.MustCompile(`(?m)^(?:# gonb_.*\n|\./main\.go:\d+:\d+: )`)
	exitNoise    = regexp.MustCompile(`(?m)^exit status \d+\n?`)
)

// locate finds the line that failed in what the kernel wrote about it.
func locate(nb *notebook.Notebook, d driverFailure) *Failure {
	f := &Failure{Cell: d.Cell + 1, Message: d.Message}
	if d.Cell < 0 || d.Cell >= len(nb.Cells) {
		return f
	}
	cell := nb.Cells[d.Cell]
	f.Count = cell.ExecutionCount()
	stderr := ansi.ReplaceAllString(cell.Stderr(), "")
	if place := runPlace.FindStringSubmatch(stderr); place != nil && place[1] == "" {
		f.findText(nb, d, place[3])
	} else if place != nil {
		f.findLine(nb, place[1], place[2])
	} else if place := compilePlace.FindStringSubmatch(ansi.ReplaceAllString(cell.Traceback(), "")); place != nil {
		f.findLine(nb, place[1], place[2])
	}
	if d.Kind == "error" {
		f.Message = message(stderr, d.Message)
		// Of display.Stop; a panic has words of its own.
		if said := shown(cell); said != "" && !strings.Contains(stderr, "panic: ") {
			f.Message = said
		}
	}
	return f
}

// shown returns the errors that a cell shows, in lines.
func shown(c *notebook.Cell) string {
	texts := c.Marked(display.ErrorMark)
	for i, t := range texts {
		texts[i] = strings.TrimSpace(strings.TrimPrefix(t, "!! "))
	}
	return strings.Join(texts, "\n")
}

func (f *Failure) findLine(nb *notebook.Notebook, count, line string) {
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 {
		return
	}
	for i, c := range nb.Cells {
		source := strings.Split(c.Source(), "\n")
		if c.Type() == "code" && c.ExecutionCount() == count && n <= len(source) {
			f.SourceCell, f.Line, f.Source = i+1, n, strings.TrimSpace(source[n-1])
			return
		}
	}
}

// findText finds a line of the program among those of the cells that ran. The kernel says by itself where a line comes
// from, but only if the program happens to write the line's place in one piece.
func (f *Failure) findText(nb *notebook.Notebook, d driverFailure, line string) {
	n, err := strconv.Atoi(line)
	program := strings.Split(d.Program, "\n")
	if err != nil || n < 1 || n > len(program) {
		return
	}
	wanted := strings.TrimSpace(program[n-1])
	for i := d.Cell; i >= 0 && wanted != ""; i-- {
		for j, text := range strings.Split(nb.Cells[i].Source(), "\n") {
			if nb.Cells[i].Type() == "code" && strings.TrimSpace(text) == wanted {
				f.SourceCell, f.Line, f.Source = i+1, j+1, wanted
				return
			}
		}
	}
}

// message returns the words of the program where it had any (the first line of a panic, else the end of what it wrote),
// else those of the compiler.
func message(stderr, kernel string) string {
	said := strings.TrimSpace(exitNoise.ReplaceAllString(stderr, ""))
	if said == "" {
		return strings.TrimSpace(compileNoise.ReplaceAllString(ansi.ReplaceAllString(kernel, ""), ""))
	}
	lines := strings.Split(said, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(strings.Join(untilBlank(lines[i:]), "\n"))
		}
	}
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

func untilBlank(lines []string) []string {
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			return lines[:i]
		}
	}
	return lines
}
