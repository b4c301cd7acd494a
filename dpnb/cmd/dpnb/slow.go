package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// patience is how long a command that computes may be silent.
const patience = 2 * time.Second

// computing says of commands that compute what takes them long.
var computing = map[string]string{
	"epsilon": "still computing; some losses and parameters take seconds", "fit": "reading the records and fitting",
	"describe": "reading the records", "evaluate": "reading the records",
	"predict": "predicting, record by record", "check": "reading the records",
	"study": "fitting",
}

func init() {
	for _, name := range []string{"delta", "sigma", "forecast"} {
		computing[name] = computing["epsilon"]
	}
}

// tellIfSlow shows on out that cmd goes on, and for how long, once it has been at work for as long as after; until it
// is stopped, which the first of its output does. Time is all that is shown of what is going on: how far a fit has come
// would depend on the records.
func tellIfSlow(cmd *cobra.Command, out *os.File, after time.Duration) (stop func()) {
	text, slow := computing[cmd.Name()]
	if !slow {
		return func() {}
	}
	var mu sync.Mutex
	var shown *display
	t := time.AfterFunc(after, func() {
		mu.Lock()
		defer mu.Unlock()
		shown = newDisplay(out)
		shown.Step("dpnb " + cmd.Name() + ": " + text)
	})
	stop = func() {
		t.Stop()
		mu.Lock()
		defer mu.Unlock()
		if shown != nil {
			shown.close()
			shown = nil
		}
	}
	cmd.SetOut(stopping{cmd.OutOrStdout(), stop})
	return stop
}

// stopping is a writer that stops something first.
type stopping struct {
	io.Writer
	stop func()
}

func (s stopping) Write(b []byte) (int, error) {
	s.stop()
	return s.Writer.Write(b)
}
