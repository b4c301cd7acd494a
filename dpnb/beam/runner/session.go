// Package runner runs pipelines of Apache Beam where the user says: in this process, on worker
// processes of this machine, on a cluster. It knows nothing of what they compute.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// Where says what runs pipelines.
type Where struct {
	// Runner is prism, flink or spark. Flink's and Spark's job servers take the same pipelines.
	Runner string
	// Endpoint is the address of the job service. Without one, and with prism, there is one
	// started here: in this process, or beside it if there are Processes.
	Endpoint string
	// Workers are the addresses of worker pools, which the runner must reach: processes that
	// serve Pool, as the command's `worker` does. Each takes a share of the work.
	Workers []string
	// Processes is a number of workers to start on this machine instead. With neither, this
	// process is the only worker.
	Processes int
}

// Validate checks what can be checked without reaching anything.
func (w Where) Validate() error {
	switch {
	case w.Runner == "dataflow":
		return errors.New("dataflow starts workers of its own from a bucket, and all records would have to lie " +
			"there: this module does not do that; take flink or spark on machines that are the curator's")
	case w.Runner != "prism" && w.Runner != "flink" && w.Runner != "spark":
		return fmt.Errorf("there is no runner %q: take prism, flink or spark, or leave it out", w.Runner)
	case w.Runner != "prism" && w.Endpoint == "":
		return fmt.Errorf("%s needs the address of its job server: --endpoint host:port", w.Runner)
	case w.Processes < 0 || w.Processes > 0 && len(w.Workers) > 0:
		return errors.New("give the addresses of workers, or a number of them to start here")
	}
	for _, a := range append([]string{w.Endpoint}, w.Workers...) {
		if _, _, err := net.SplitHostPort(a); a != "" && err != nil {
			return fmt.Errorf("%q is no address: give host:port", a)
		}
	}
	return nil
}

// Session is a runner that was reached, with its workers.
type Session struct {
	where Where
	// Attempts is how often a pipeline is run before its failure is the caller's: 3 if zero.
	Attempts int
	retried  atomic.Int64

	mu sync.Mutex
	// client is nil if the runner has to be reached again.
	client  jobpb.JobServiceClient
	conns   []io.Closer
	prism   *process
	workers []worker
}

// worker is a pool at an address, with the process if it was started here.
type worker struct {
	address string
	process *process
	pool    *pool
}

// patience is how long an address that is known may take to answer.
const patience = 5 * time.Second

// Open reaches or starts what w says.
//
// Errors: as Validate; an address where nobody answers.
func Open(ctx context.Context, w Where) (*Session, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	beam.Init()
	quiet()
	s := &Session{where: w}
	for range w.Processes {
		s.workers = append(s.workers, worker{})
	}
	for _, a := range w.Workers {
		s.workers = append(s.workers, worker{address: a})
	}
	if len(s.workers) == 0 {
		p, err := newPool("localhost:0")
		if err != nil {
			return nil, err
		}
		s.workers = []worker{{address: p.address, pool: p}}
	}
	for i := range s.workers {
		if _, err := s.ready(ctx, i); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Workers returns the number of workers among which work is to be divided.
func (s *Session) Workers() int { return len(s.workers) }

// Kill ends a worker's process, for tests of what happens then. False if it has none.
func (s *Session) Kill(worker int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.workers[worker].process.kill()
}

// killRunner ends the runner's process, for tests of what happens then. False if it has none.
func (s *Session) killRunner() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prism.kill()
}

// Close ends what was started here.
func (s *Session) Close() error {
	var err error
	for _, c := range s.conns {
		err = errors.Join(err, c.Close())
	}
	s.prism.kill()
	for _, w := range s.workers {
		w.process.kill()
		if w.pool != nil {
			w.pool.close()
		}
	}
	return err
}

// seat is what a job runs on: a runner and a worker that are there.
type seat struct {
	client jobpb.JobServiceClient
	// runner is nil unless it was started here; so is the worker's process.
	runner *process
	worker worker
}

// ready starts again what has died of the runner and of a worker, and reaches both.
func (s *Session) ready(ctx context.Context, i int) (seat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.workers[i]
	if s.where.Processes > 0 && (!w.process.alive() || answers(ctx, w.address) != nil) {
		w.process.kill() // if it is dying, it is dead after that
		p, err := start(ctx, "worker")
		if err != nil {
			return seat{}, fmt.Errorf("a worker does not start: %w", err)
		}
		w.process, w.address = p, p.address
	}
	if err := answers(ctx, w.address); err != nil {
		return seat{}, fmt.Errorf("no worker answers at %s: %w", w.address, err)
	}
	endpoint := s.where.Endpoint
	switch {
	case endpoint == "" && w.pool != nil:
		var err error
		s.client, err = inProcess()
		return seat{client: s.client, worker: *w}, err
	case endpoint == "" && (!s.prism.alive() || answers(ctx, s.prism.address) != nil):
		s.prism.kill()
		p, err := start(ctx, "prism")
		if err != nil {
			return seat{}, fmt.Errorf("the runner does not start: %w", err)
		}
		s.prism, s.client = p, nil
	}
	if endpoint == "" {
		endpoint = s.prism.address
	}
	if err := answers(ctx, endpoint); err != nil {
		return seat{}, fmt.Errorf("no %s runner answers at %s: %w", s.where.Runner, endpoint, err)
	}
	if s.client == nil {
		c, err := grpc.NewClient("dns:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return seat{}, err
		}
		s.client = jobpb.NewJobServiceClient(c)
		s.conns = append(s.conns, c)
	}
	return seat{s.client, s.prism, *w}, nil
}

// answers reports whether somebody listens at an address.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// inProcess returns the Prism of this process. There is one, for it cannot be stopped.
func inProcess() (jobpb.JobServiceClient, error) {
	prismHere.Lock()
	defer prismHere.Unlock()
	if prismHere.client == nil {
		c, err := prism.CreateJobServer(context.Background(), prism.Options{})
		if err != nil {
			return nil, err
		}
		prismHere.client = c
		quiet()
	}
	return prismHere.client, nil
}

// Run has a pipeline made and run on every worker, side by side, and returns when all are done.
// If one fails, because its worker or the runner has died or for any other reason, what has died
// is started again and the pipeline repeated: what its transforms write has to be the same then.
//
// A worker has a job of its own: Prism runs one process for an environment, and takes the metrics
// of two in one job for each other's.
//
// Errors: what the last attempt of a worker failed of; ctx's.
func (s *Session) Run(ctx context.Context, name string, build func(scope beam.Scope, worker int)) error {
	return parallel.For(ctx, len(s.workers), len(s.workers), func(_, i int) error {
		return s.persist(ctx, i, name, func(scope beam.Scope) { build(scope, i) })
	})
}

// persist runs a worker's pipeline until it succeeds or the attempts are spent.
func (s *Session) persist(ctx context.Context, worker int, name string, build func(beam.Scope)) error {
	var failed error
	for k := range cmp.Or(s.Attempts, 3) {
		if k > 0 {
			s.retried.Add(1)
			select { // a process that was killed is gone a moment later
			case <-time.After(50 * time.Millisecond << k):
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		at, err := s.ready(ctx, worker)
		if failed = err; failed != nil {
			continue
		}
		p, err := pipeline(at.worker.address, build)
		if err != nil {
			return err
		}
		if failed = at.submit(ctx, s.where.Runner, name, p); failed == nil {
			return nil
		}
	}
	return fmt.Errorf("%s failed on %s, worker %d: %w", name, s.where.Runner, worker, shorter(failed))
}

// Retried returns how many runs failed and were repeated.
func (s *Session) Retried() int { return int(s.retried.Load()) }

func (s seat) submit(ctx context.Context, runner, name string, p *pipepb.Pipeline) error {
	id, artifacts, token, err := runnerlib.Prepare(ctx, s.client, p, &runnerlib.JobOptions{Name: name, Parallelism: -1})
	if err != nil {
		return err
	}
	staged := ""
	if runner != "prism" { // which have to be told that nothing is staged
		if staged, err = runnerlib.Stage(ctx, id, artifacts, os.DevNull, token); err != nil {
			return err
		}
	}
	job, err := runnerlib.Submit(ctx, s.client, id, staged)
	if err != nil {
		return err
	}
	if err := s.wait(ctx, job); err != nil {
		return err
	}
	// The stream of messages ends as well when the job was cancelled.
	state, err := s.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: job})
	if err == nil && state.State != jobpb.JobState_DONE {
		err = fmt.Errorf("the job ended as %v", state.State)
	}
	return err
}

// wait returns when a job has ended, or cannot go on because the runner or the worker has died: a
// runner may wait for a minute or for ever then.
func (s seat) wait(ctx context.Context, job string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- runnerlib.WaitForCompletion(ctx, s.client, job) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var died error
		select {
		case err := <-ended:
			return err
		case <-s.runner.ends():
			died = errors.New("the runner's process has ended")
		case <-s.worker.process.ends():
			died = errors.New("the worker's process has ended")
		case <-tick.C:
			if s.worker.process != nil || s.worker.pool != nil {
				continue
			}
			if err := answers(ctx, s.worker.address); err != nil {
				died = fmt.Errorf("the worker at %s is gone: %w", s.worker.address, err)
			}
		}
		if died == nil {
			continue
		}
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		_, _ = s.client.Cancel(last, &jobpb.CancelJobRequest{JobId: job}) // an error if the runner is gone
		stop()
		cancel()
		<-ended
		return died
	}
}

// pipeline returns what is built as a pipeline whose environment is the worker at an address.
func pipeline(address string, build func(beam.Scope)) (*pipepb.Pipeline, error) {
	p, root := beam.NewPipelineWithRoot()
	build(root)
	edges, _, err := p.Build()
	if err != nil {
		return nil, err
	}
	e, err := graphx.CreateEnvironment(context.Background(), graphx.URNEnvExternal,
		func(context.Context) string { return address })
	if err != nil {
		return nil, err
	}
	e.Dependencies = nil // the worker is this program
	return graphx.Marshal(edges, &graphx.Options{Environment: e})
}

// shorter leaves of what a runner says what it was caused by, without the stack that may follow.
func shorter(err error) error {
	text := err.Error()
	if at := strings.LastIndex(text, "caused by:"); at >= 0 {
		text = text[at+len("caused by:"):]
	} else if !strings.Contains(text, "\n") {
		return err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return errors.New(strings.Join(lines[:min(len(lines), 6)], "\n"))
}
