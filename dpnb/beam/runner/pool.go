package runner

import (
	"context"
	"net"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// pool serves Beam's external environment: for each job that asks, a worker in this process. It
// differs from the SDK's own in that it listens where it is told to, and in that a second worker
// of a name takes the place of the first.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	server  *grpc.Server
	address string
	mu      sync.Mutex
	stop    map[string]context.CancelFunc
}

// newPool listens at an address, "localhost:0" for a free port that this machine alone reaches.
func newPool(address string) (*pool, error) {
	beam.Init()
	quiet()
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &pool{server: grpc.NewServer(), address: l.Addr().String(), stop: map[string]context.CancelFunc{}}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	go func() { _ = p.server.Serve(l) }() // until close
	return p, nil
}

// close ends all workers.
func (p *pool) close() {
	p.mu.Lock()
	for _, stop := range p.stop {
		stop()
	}
	p.mu.Unlock()
	p.server.Stop()
}

// StartWorker implements fnpb.BeamFnExternalWorkerPoolServer.
func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := r.GetWorkerId()
	if stop := p.stop[id]; stop != nil {
		stop() // of a runner that is gone, and whose successor counts its jobs anew
	}
	ctx, stop := context.WithCancel(grpcx.WriteWorkerID(context.Background(), id))
	p.stop[id] = stop
	go func() {
		// The runner sees what goes wrong: the connection ends.
		_ = harness.MainWithOptions(ctx, r.GetLoggingEndpoint().GetUrl(), r.GetControlEndpoint().GetUrl(),
			harness.Options{})
	}()
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker implements fnpb.BeamFnExternalWorkerPoolServer.
func (p *pool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stop := p.stop[r.GetWorkerId()]; stop != nil {
		stop()
		delete(p.stop, r.GetWorkerId())
	}
	return &fnpb.StopWorkerResponse{}, nil
}
