package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

var prismHere struct {
	sync.Mutex
	client jobpb.JobServiceClient
}

// process is a child that runs this program as a worker or as a runner.
type process struct {
	cmd     *exec.Cmd
	address string
	stdin   io.Closer
	done    chan struct{}
}

// logEnv, if set, has the logs of Beam and of the processes started here on standard error.
const logEnv = "DPNB_BEAM_LOG"

// roleEnv tells a child what it is: a worker, or prism.
const roleEnv = "DPNB_BEAM_ROLE"

// Main is to be the first call of main, and of TestMain, of a program that opens sessions with
// Processes: where the program was started as one of them it serves and does not return.
func Main() {
	role := os.Getenv(roleEnv)
	if role == "" {
		return
	}
	go func() { // whoever started this process has ended when its pipe is closed
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	quiet()
	var err error
	switch role {
	case "worker":
		err = Pool(context.Background(), "localhost:0", os.Stdout)
	case "prism":
		err = Prism(context.Background(), 0, os.Stdout)
	default:
		err = fmt.Errorf("no role: %q", role)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// quiet silences the logs of Beam, which writes to the default logger of the program: what fails is
// returned, and no log is to grow by a line for each pass.
func quiet() {
	level := slog.LevelError + 1
	if os.Getenv(logEnv) != "" {
		level = slog.LevelDebug
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}

// Pool serves as a worker at an address, "localhost:0" for a free port of this machine, and
// writes the address to out. It returns when ctx ends.
func Pool(ctx context.Context, address string, out io.Writer) error {
	p, err := newPool(address)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, p.address)
	<-ctx.Done()
	p.close()
	return nil
}

// Prism serves as a runner at a port, 0 for a free one, and writes its address to out. It
// returns when ctx ends.
func Prism(ctx context.Context, port int, out io.Writer) error {
	if port == 0 {
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			return err
		}
		port = l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			return err
		}
	}
	beam.Init()
	quiet()
	if _, err := prism.CreateJobServer(ctx, prism.Options{Port: port}); err != nil {
		return err
	}
	fmt.Fprintf(out, "localhost:%d\n", port)
	<-ctx.Done()
	return nil
}

// start runs this program in a role and waits until it says where it listens.
func start(ctx context.Context, role string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	if os.Getenv(logEnv) != "" {
		cmd.Stderr = os.Stderr // else the panics by which Prism says that a worker is gone would be there
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
		first <- strings.TrimSpace(line)
		_, _ = io.Copy(io.Discard, r)
		_ = cmd.Wait()
		close(p.done)
	}()
	select {
	case p.address = <-first:
	case <-time.After(2 * time.Minute):
	case <-ctx.Done():
	}
	if p.address == "" {
		p.kill()
		return nil, errors.Join(fmt.Errorf("the %s process said nothing", role), ctx.Err())
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
