package report

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

//go:embed driver.py
var driverSource []byte

// endSeconds is how long the driver may take to end a kernel: longer than the driver itself waits before it uses force.
const endSeconds = 8

// A session is a running driver, which runs and converts one notebook.
type session struct {
	dir    *runDir
	cmd    *exec.Cmd
	end    context.CancelFunc // closes orders, the driver's sign to end
	orders io.WriteCloser
	events *bufio.Reader
}

func (s *Setup) newSession(ctx context.Context) (_ *session, err error) {
	dir, err := newRunDir(ctx, s.Cache)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.remove())
		}
	}()
	script := dir.file("driver.py")
	if err := os.WriteFile(script, driverSource, 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(dir.file("log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ctx, end := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			end()
		}
	}()
	cmd := exec.CommandContext(ctx, s.Jupyter.Python, script)
	detach(cmd)
	cmd.Env = append(dir.environ(s.Kernel.Environ(os.Environ())), runlog.DirEnv+"="+dir.path)
	cmd.Stderr = log
	cmd.ExtraFiles = []*os.File{dir.lock.File()} // the run goes on as long as one of the two lives
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel = orders.Close
	cmd.WaitDelay = endSeconds * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &session{dir: dir, cmd: cmd, end: end, orders: orders, events: bufio.NewReader(events)}, nil
}

// close ends the kernel, the driver and everything that they started.
func (s *session) close() error {
	s.end()
	s.cmd.Wait() // its exit code says nothing that the events did not
	return s.dir.remove()
}

type event struct {
	Event   string         `json:"event"`
	Index   int            `json:"index"`
	Message string         `json:"message"`
	Failure *driverFailure `json:"failure"`
}

type driverFailure struct {
	Kind    string `json:"kind"` // error, timeout or dead
	Message string `json:"message"`
	Cell    int    `json:"cell"`    // from 0; -1 before the first
	Program string `json:"program"` // that the kernel made of the cells
}

// order sends an order and hands events to each until the one named last. When the session's context ends, so does the
// driver, and with it the reading.
func (s *session) order(ctx context.Context, order map[string]any, last string, each func(event)) (event, error) {
	line, err := json.Marshal(order)
	if err != nil {
		return event{}, err
	}
	if _, err := s.orders.Write(append(line, '\n')); err != nil {
		return event{}, s.explain(ctx, err)
	}
	for {
		line, err := s.events.ReadBytes('\n')
		if err != nil {
			return event{}, s.explain(ctx, err)
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return event{}, s.explain(ctx, err)
		}
		if ctx.Err() != nil {
			return event{}, ctx.Err()
		}
		switch e.Event {
		case last:
			return e, nil
		case "failed":
			return event{}, s.explain(ctx, errors.New(e.Message))
		default:
			each(e)
		}
	}
}

// explain adds the end of the driver's log to an error of the machinery.
func (s *session) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	log, _ := os.ReadFile(s.dir.file("log"))
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return fmt.Errorf("running Jupyter: %w\n%s", err, strings.Join(lines[max(0, len(lines)-8):], "\n"))
}

// execution is what running a notebook gave.
type execution struct {
	notebook *notebook.Notebook
	log      *runlog.Log
	failure  *Failure // nil if every cell passed and none shows an error
	seconds  float64
}

// execute runs a notebook in a kernel of its own, with dir as its folder.
func (s *session) execute(ctx context.Context, nb *notebook.Notebook, dir string, timeout time.Duration,
	cell func(index int)) (*execution, error) {
	in, out := s.dir.file("in.ipynb"), s.dir.file("out.ipynb")
	if err := writeNotebook(in, nb); err != nil {
		return nil, err
	}
	start := time.Now()
	order := map[string]any{"do": "execute", "notebook": in, "out": out, "cwd": dir, "timeout": timeout.Seconds()}
	e, err := s.order(ctx, order, "executed", func(e event) { cell(e.Index) })
	if err != nil {
		return nil, err
	}
	result := &execution{seconds: time.Since(start).Seconds()}
	if result.notebook, err = notebook.ReadFile(out); err != nil {
		return nil, err
	}
	result.notebook.JoinStreams()
	if result.log, err = runlog.Read(s.dir.path); err != nil {
		return nil, err
	}
	if e.Failure != nil {
		result.failure = locate(result.notebook, *e.Failure)
	} else {
		result.failure = shownErrors(result.notebook)
	}
	return result, nil
}

// html converts a notebook to the inside of a page; dir is where its relative links start.
func (s *session) html(ctx context.Context, nb *notebook.Notebook, title, dir string) ([]byte, error) {
	in, out := s.dir.file("html.ipynb"), s.dir.file("out.html")
	if err := writeNotebook(in, nb); err != nil {
		return nil, err
	}
	order := map[string]any{"do": "html", "notebook": in, "out": out, "title": title, "cwd": dir}
	if _, err := s.order(ctx, order, "html", func(event) {}); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// markdown converts texts in Markdown.
func (s *session) markdown(ctx context.Context, texts []string) (converted []string, err error) {
	in, out := s.dir.file("markdown.json"), s.dir.file("html.json")
	content, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(in, content, 0o600); err != nil {
		return nil, err
	}
	order := map[string]any{"do": "markdown", "in": in, "out": out}
	if _, err := s.order(ctx, order, "markdown", func(event) {}); err != nil {
		return nil, err
	}
	if content, err = os.ReadFile(out); err != nil {
		return nil, err
	}
	return converted, json.Unmarshal(content, &converted)
}

func writeNotebook(path string, nb *notebook.Notebook) error {
	content, err := nb.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, content, 0o600)
}
