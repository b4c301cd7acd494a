// Package runner runs pipelines of Apache Beam where the user says: in this process, or on the workers of a cluster. It
// knows nothing of what they compute.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	//lint:ignore SA1019 the other local runner listens on every interface and asks nobody who they are
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// Where says what runs pipelines.
type Where struct {
	// Endpoint is the address of the job service of a runner: Flink's, Spark's. Without one this process does it all,
	// in Beam's direct runner, and nothing listens.
	Endpoint string
	// Workers are files in which workers have written where they listen and their key: processes that serve Pool, as
	// the command's `worker` does. The runner must reach what is in them. Each takes a share of the work.
	Workers []string
	// Processes is a number of workers to start on this machine instead. With neither, this process is the only worker.
	Processes int
}

// Validate checks what can be checked without reaching anything.
func (w Where) Validate() error {
	if w.Processes < 0 || w.Processes > 0 && len(w.Workers) > 0 {
		return errors.New("give the files of workers, or a number of them to start here")
	}
	if w.Endpoint == "" && (w.Processes > 0 || len(w.Workers) > 0) {
		return errors.New("workers are a runner's: give the address of its job service, --endpoint host:port")
	}
	if _, _, err := net.SplitHostPort(w.Endpoint); w.Endpoint != "" && err != nil {
		return fmt.Errorf("%q is no address: give host:port", w.Endpoint)
	}
	return nil
}

// Session is a runner that was reached, with its workers.
type Session struct {
	where Where
	// Attempts is how often a pipeline is run before its failure is the caller's: 3 if zero.
	Attempts int
	retried  atomic.Int64

	mu      sync.Mutex
	workers []worker
}

// worker is a pool at a place: of another program, which has written it to a file, of a process that was started here,
// or of this one. In the direct runner it is none of these.
type worker struct {
	place
	file    string
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
	for _, path := range w.Workers {
		s.workers = append(s.workers, worker{file: path})
	}
	if w.Endpoint == "" {
		s.workers = make([]worker, 1)
		return s, nil
	}
	if len(s.workers) == 0 {
		p, err := newPool(0)
		if err != nil {
			return nil, err
		}
		s.workers = []worker{{place: p.place, pool: p}}
	}
	for i := range s.workers {
		if _, err := s.ready(ctx, i); err != nil {
			s.Close()
			return nil, err
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

// Close ends what was started here.
func (s *Session) Close() {
	for _, w := range s.workers {
		w.process.kill()
		if w.pool != nil {
			w.pool.close()
		}
	}
}

// ready returns a worker that is there, started again if it has died, and reaches it and the runner.
func (s *Session) ready(ctx context.Context, i int) (worker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.workers[i]
	var err error
	if w.file != "" { // which another worker may have written meanwhile
		if w.place, err = placeIn(w.file); err != nil {
			return *w, err
		}
	}
	if s.where.Processes > 0 && (!w.process.alive() || answers(ctx, w.address) != nil) {
		w.process.kill() // if it is dying, it is dead after that
		if w.process, err = start(ctx); err != nil {
			return *w, fmt.Errorf("a worker does not start: %w", err)
		}
		w.place = w.process.place
	}
	if err := answers(ctx, w.address); err != nil {
		return *w, fmt.Errorf("no worker answers at %s: %w", w.address, err)
	}
	if err := answers(ctx, s.where.Endpoint); err != nil {
		return *w, fmt.Errorf("no runner answers at %s: %w", s.where.Endpoint, err)
	}
	return *w, nil
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

// Run has a pipeline made and run on every worker, side by side, and returns when all are done.
// If one fails, because its worker or the runner has died or for any other reason, a worker that has died is started
// again and the pipeline repeated: what its transforms write has to be the same then.
//
// A worker has a job of its own: a runner may run one process for an environment, and take the metrics of two in one
// job for each other's.
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
			select { // a process that was killed is gone a moment later, and a runner may be started again
			case <-time.After(250 * time.Millisecond << k):
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if failed = s.once(ctx, worker, name, build); failed == nil {
			return nil
		}
	}
	return fmt.Errorf("%s failed, worker %d: %w", name, worker, shorter(failed))
}

// once runs a worker's pipeline.
func (s *Session) once(ctx context.Context, worker int, name string, build func(beam.Scope)) error {
	p, root := beam.NewPipelineWithRoot()
	if build(root); s.where.Endpoint == "" {
		_, err := direct.Execute(ctx, p)
		return err
	}
	at, err := s.ready(ctx, worker)
	if err != nil {
		return err
	}
	plan, err := marshalled(p, at.place)
	if err != nil {
		return err
	}
	c, err := grpc.NewClient("dns:///"+s.where.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer c.Close()
	return at.submit(ctx, jobpb.NewJobServiceClient(c), name, plan)
}

// Retried returns how many runs failed and were repeated.
func (s *Session) Retried() int { return int(s.retried.Load()) }

func (w worker) submit(ctx context.Context, to jobpb.JobServiceClient, name string, p *pipepb.Pipeline) error {
	id, artifacts, token, err := runnerlib.Prepare(ctx, to, p, &runnerlib.JobOptions{Name: name, Parallelism: -1})
	if err != nil {
		return err
	}
	staged, err := runnerlib.Stage(ctx, id, artifacts, os.DevNull, token) // runners have to be told that it is nothing
	if err != nil {
		return err
	}
	job, err := runnerlib.Submit(ctx, to, id, staged)
	if err != nil {
		return err
	}
	if err := w.wait(ctx, to, job); err != nil {
		return err
	}
	// The stream of messages ends as well when the job was cancelled.
	state, err := to.GetState(ctx, &jobpb.GetJobStateRequest{JobId: job})
	if err == nil && state.State != jobpb.JobState_DONE {
		err = fmt.Errorf("the job ended as %v", state.State)
	}
	return err
}

// wait returns when a job has ended, or cannot go on because the worker has died: a runner may wait for a minute or for
// ever then.
func (w worker) wait(ctx context.Context, on jobpb.JobServiceClient, job string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- runnerlib.WaitForCompletion(ctx, on, job) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var died error
		select {
		case err := <-ended:
			return err
		case <-w.process.ends():
			died = errors.New("the worker's process has ended")
		case <-tick.C:
			if w.process != nil || w.pool != nil {
				continue
			}
			if err := answers(ctx, w.address); err != nil {
				died = fmt.Errorf("the worker at %s is gone: %w", w.address, err)
			}
		}
		if died == nil {
			continue
		}
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		_, _ = on.Cancel(last, &jobpb.CancelJobRequest{JobId: job}) // an error if the runner is gone
		stop()
		cancel()
		<-ended
		return died
	}
}

// marshalled returns a pipeline whose environment is the worker at a place.
func marshalled(p *beam.Pipeline, at place) (*pipepb.Pipeline, error) {
	edges, _, err := p.Build()
	if err != nil {
		return nil, err
	}
	e, err := graphx.CreateEnvironment(context.Background(), graphx.URNEnvExternal,
		func(context.Context) string { return "" })
	if err != nil {
		return nil, err
	}
	e.Dependencies = nil // the worker is this program
	e.Payload, err = proto.Marshal(&pipepb.ExternalPayload{Endpoint: &pipepb.ApiServiceDescriptor{Url: at.address},
		Params: map[string]string{keyName: at.key}})
	if err != nil {
		return nil, err
	}
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
