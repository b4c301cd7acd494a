package display

import (
	"fmt"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/dpnb/notebooks/dpnb/internal/runlog"
)

// patience is how long a cell shows nothing before a line says that it is at work.
const patience = 1300 * time.Millisecond

// atWork is the line under a cell that has shown nothing yet: since when it has been at work, second by second, until
// it shows something. It tells the time alone, to whoever sits at the notebook: where outputs are kept, there is none
// (runlog.Reported).
type atWork struct {
	mu           sync.Mutex
	write        func(html string) // in place of what it wrote before
	shown, ended bool
}

var working = &atWork{ended: true}

func init() {
	if gonbui.IsNotebook && !runlog.Reported() {
		id := gonbui.UniqueId()
		working = &atWork{write: func(html string) { gonbui.UpdateHTML(id, html) }}
		go working.watch(time.Now(), time.After(patience), time.Tick(time.Second))
	}
}

// watch writes the line first when first comes, and again at every tick, until end.
func (w *atWork) watch(start time.Time, first, tick <-chan time.Time) {
	for beat := first; w.tell((<-beat).Sub(start)); beat = tick {
	}
}

// tell writes the line, unless there is to be none any more.
func (w *atWork) tell(since time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.shown = true
		w.write(fmt.Sprintf(`<div style="%s">at work for %.0f s</div>`, note, since.Seconds()))
	}
	return !w.ended
}

// end takes the line away for good.
func (w *atWork) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown && !w.ended {
		w.write("")
	}
	w.ended = true
}
