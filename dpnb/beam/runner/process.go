package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
)

// process is a child that runs this program as a worker.
type process struct {
	place
	cmd   *exec.Cmd
	stdin io.Closer
	done  chan struct{}
}

// logEnv, if set, has the logs of Beam and of the processes started here on standard error.
const logEnv = "DPNB_BEAM_LOG"

// workerEnv tells a child that it is a worker.
const workerEnv = "DPNB_BEAM_WORKER"

// Main is to be the first call of main, and of TestMain, of a program that opens sessions with
// Processes: where the program was started as one of them it serves and does not return.
func Main() {
	if os.Getenv(workerEnv) == "" {
		return
	}
	go func() { // whoever started this process has ended when its pipe is closed
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Fprintln(os.Stderr, Pool(context.Background(), 0, ""))
	os.Exit(1)
}

// quiet silences the logs of Beam, which writes to the default logger of the program: what fails is returned, and no
// log is to grow by a line for each pass.
func quiet() {
	level := slog.LevelError + 1
	if os.Getenv(logEnv) != "" {
		level = slog.LevelDebug
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}

// Pool serves as a worker at a port of this machine, 0 for a free one, and writes the place to a file for this user
// alone, or to standard output if path is empty. It returns when ctx ends.
func Pool(ctx context.Context, port int, path string) error {
	p, err := newPool(port)
	if err != nil {
		return err
	}
	defer p.close()
	if path == "" {
		fmt.Println(p.place)
	} else {
		if err := atomicfile.WritePrivately(path, []byte(p.String()+"\n")); err != nil {
			return err
		}
		defer os.Remove(path)
	}
	<-ctx.Done()
	return nil
}

// start runs this program as a worker and waits until it says where it listens.
func start(ctx context.Context) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), workerEnv+"=1")
	if os.Getenv(logEnv) != "" {
		cmd.Stderr = os.Stderr
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, done: make(chan struct{})}
	first := make(chan string, 1)
	go func() {
		r := bufio.NewReader(stdout)
		line, _ := r.ReadString('\n')
		first <- line
		_, _ = io.Copy(io.Discard, r)
		_ = cmd.Wait()
		close(p.done)
	}()
	var line string
	select {
	case line = <-first:
	case <-time.After(2 * time.Minute):
	case <-ctx.Done():
	}
	if err := p.read(line); err != nil {
		p.kill()
		return nil, errors.Join(err, ctx.Err())
	}
	return p, nil
}

func (p *process) alive() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// ends returns a channel that is closed when the process has ended; of none, never.
func (p *process) ends() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.done
}

// kill ends the process as nothing else could: without a word. False if there is none.
func (p *process) kill() bool {
	if p == nil {
		return false
	}
	_ = p.cmd.Process.Kill() // an error if it has ended
	<-p.done
	return true
}
