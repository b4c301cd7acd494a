package display

import (
	"slices"
	"testing"
	"time"
)

// A cell that shows nothing says for how long it has been at work, second by second, and takes the line away when it
// shows something; one that shows at once says nothing.
func TestAtWork(t *testing.T) {
	start := time.Now()
	run := func(beats int, then func(*atWork)) []string {
		var lines []string
		first, tick, wrote := make(chan time.Time, 1), make(chan time.Time), make(chan bool, 9)
		w := &atWork{write: func(html string) { lines = append(lines, html); wrote <- true }}
		stopped := make(chan bool)
		go func() { w.watch(start, first, tick); close(stopped) }()
		for i := range beats {
			if at := start.Add(time.Duration(i+2) * time.Second); i == 0 {
				first <- at
			} else {
				tick <- at
			}
			<-wrote
		}
		then(w)
		if beats == 0 {
			first <- start
		} else {
			tick <- start
		}
		<-stopped
		return lines
	}
	line := func(s string) string { return `<div style="` + note + `">at work for ` + s + ` s</div>` }
	end := func(w *atWork) { w.end(); w.end() }
	if got, want := run(3, end), []string{line("2"), line("3"), line("4"), ""}; !slices.Equal(got, want) {
		t.Errorf("after three beats: %q", got)
	}
	if got := run(0, end); got != nil {
		t.Errorf("of a cell that shows at once: %q", got)
	}
	if !working.ended {
		t.Error("a line outside notebooks")
	}
}
