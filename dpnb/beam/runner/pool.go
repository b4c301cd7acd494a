package runner

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// place is where a worker listens, and the key without which it serves nobody. A worker draws one when it starts, so
// that the key of one that has ended opens none.
type place struct{ address, key string }

// read takes a place from a line that a worker has written.
func (p *place) read(line string) error {
	if f := strings.Fields(line); len(f) == 2 {
		p.address, p.key = f[0], f[1]
		return nil
	}
	return errors.New("no worker has said where it listens")
}

func (p place) String() string { return p.address + " " + p.key }

// placeIn reads the place of a worker from the file that it has written.
func placeIn(path string) (p place, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return p, fmt.Errorf("no worker has written where it is: start one with: dpnb-beam worker %s (%w)", path, err)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // which says nothing of others
		return p, fmt.Errorf("%s has the key of a worker, and others may read it: let the worker write it anew", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	return p, p.read(string(text))
}

// keyName is what the key is called among the parameters of an environment, which a runner hands on.
const keyName = "dpnb.key"

// pool serves Beam's external environment: for each job that asks and has the key, a worker in this process. It differs
// from the SDK's own in the key, and in that a second worker of a name takes the place of the first.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	place
	server *grpc.Server
	mu     sync.Mutex
	stop   map[string]*context.CancelFunc
}

// newPool listens at a port, 0 for a free one, which this machine alone reaches: a runner tells workers to run what it
// likes, and Beam neither encrypts nor authenticates.
func newPool(port int) (*pool, error) {
	beam.Init()
	quiet()
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	p := &pool{place: place{l.Addr().String(), rand.Text()}, server: grpc.NewServer(),
		stop: map[string]*context.CancelFunc{}}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	go func() { _ = p.server.Serve(l) }() // until close
	return p, nil
}

// close ends all workers.
func (p *pool) close() {
	p.mu.Lock()
	for _, stop := range p.stop {
		(*stop)()
	}
	p.mu.Unlock()
	p.server.Stop()
}

// StartWorker implements fnpb.BeamFnExternalWorkerPoolServer.
func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	if subtle.ConstantTimeCompare([]byte(r.GetParams()[keyName]), []byte(p.key)) != 1 {
		return nil, status.Error(codes.PermissionDenied, "this worker serves those who have its key")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := r.GetWorkerId()
	if stop := p.stop[id]; stop != nil {
		(*stop)() // of a runner that is gone, and whose successor counts its jobs anew
	}
	ctx, stop := context.WithCancel(grpcx.WriteWorkerID(context.Background(), id))
	p.stop[id] = &stop
	go func() {
		// The runner sees what goes wrong: the connection ends.
		_ = harness.MainWithOptions(ctx, r.GetLoggingEndpoint().GetUrl(), r.GetControlEndpoint().GetUrl(),
			harness.Options{})
		stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.stop[id] == &stop { // and not that of a successor
			delete(p.stop, id)
		}
	}()
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker implements fnpb.BeamFnExternalWorkerPoolServer. It stops nothing: the request has no place for a key, and
// a worker ends when its runner ends the connection by which it tells it what to do, as runners do before they ask.
func (p *pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil // an error would fail the runner's job
}
