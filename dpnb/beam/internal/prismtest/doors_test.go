//go:build linux

package prismtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/internal/testing/listening"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// hostileEnv has the address of a worker and the file with its key, for a child that is somebody else.
const hostileEnv = "DPNB_TEST_HOSTILE"

// TestMain runs the tests in the network of the machine: what is there is what others reach.
func TestMain(m *testing.M) {
	if at := os.Getenv(hostileEnv); at != "" {
		address, file, _ := strings.Cut(at, " ")
		if _, err := os.ReadFile(file); err == nil {
			fmt.Println("it reads the key")
		}
		for _, key := range []string{"", strings.Repeat("A", 26)} {
			if called, err := ask(address, key); called || status.Code(err) != codes.PermissionDenied {
				fmt.Printf("the key %q: worker %v, %v\n", key, called, err)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ask asks for a worker that is told by this process what to run, and reports whether one has called. Then it asks
// without the key that the worker be stopped, which may not be: an error says that it was.
func ask(address, key string) (called bool, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer l.Close()
	c, err := grpc.NewClient("dns:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return false, err
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	here := &pipepb.ApiServiceDescriptor{Url: l.Addr().String()}
	_, err = fnpb.NewBeamFnExternalWorkerPoolClient(c).StartWorker(ctx, &fnpb.StartWorkerRequest{WorkerId: "mine",
		ControlEndpoint: here, LoggingEndpoint: here, Params: map[string]string{"dpnb.key": key}})
	wait := 300 * time.Millisecond
	if err == nil {
		wait = 20 * time.Second
	}
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(wait))
	if to, accepted := l.Accept(); accepted == nil {
		called = true
		defer to.Close()
		_, err = fnpb.NewBeamFnExternalWorkerPoolClient(c).StopWorker(ctx, &fnpb.StopWorkerRequest{WorkerId: "mine"})
		_ = to.SetDeadline(time.Now().Add(3 * time.Second))
		if _, ended := io.Copy(io.Discard, to); !errors.Is(ended, os.ErrDeadlineExceeded) {
			err = errors.Join(errors.New("whoever has no key stopped it"), err, ended)
		}
	}
	return called, err
}

// TestWorkersServeThoseWithTheKey: a worker listens on this machine alone, and does nothing for another user of it, nor
// for anybody without the key; for whoever has it, it does.
func TestWorkersServeThoseWithTheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "worker")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Pool(ctx, 0, file) }()
	var place []string
	for len(place) < 2 {
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
		text, _ := os.ReadFile(file)
		place = strings.Fields(string(text))
	}
	if beyond, here := listening.Beyond(os.Getpid()); len(beyond) > 0 || here != 1 {
		t.Errorf("it listens at %v, and at %d of loopback", beyond, here)
	}
	_, port, _ := net.SplitHostPort(place[0])
	addresses := must.Get(net.InterfaceAddrs())
	for _, a := range addresses {
		if ip := a.(*net.IPNet).IP; !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			if c, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), port), 2*time.Second); err == nil {
				t.Errorf("it answers at %v", c.RemoteAddr())
				_ = c.Close()
			}
		}
	}
	hostile, at := exec.Command("/proc/self/exe"), place[0]
	if os.Getuid() == 0 { // another user cannot enter the folders of this one
		dir := must.Get(os.MkdirTemp("", ""))
		defer os.RemoveAll(dir)
		program, err := os.ReadFile("/proc/self/exe")
		hostile.Path = filepath.Join(dir, "hostile")
		if err == nil {
			err = os.WriteFile(hostile.Path, program, 0o755)
		}
		if err == nil {
			err = os.Chmod(dir, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		at += " " + file
		hostile.Dir = dir
		hostile.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	hostile.Env = append(os.Environ(), hostileEnv+"="+at)
	if out, err := hostile.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the key: %v, %v", info.Mode(), err)
	}
	if called, err := ask(place[0], place[1]); !called || err != nil {
		t.Errorf("with the key: a worker %v, %v: the test tells nothing", called, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file stays")
	}
}

// TestPrismRefusesTheNetworkOfTheMachine: where others could reach it.
func TestPrismRefusesTheNetworkOfTheMachine(t *testing.T) {
	if err := serve("0"); err == nil {
		t.Fatal("it serves")
	}
	if beyond, _ := listening.Beyond(os.Getpid()); len(beyond) > 0 {
		t.Errorf("it listens at %v", beyond)
	}
}
