//go:build linux

// Package prismtest runs tests on Prism, the runner that is part of Beam. Prism listens on every address of the
// machine, asks nobody who they are, and runs any program that a job names: so it is for tests alone, in a network of
// their own, where nobody else can reach it.
package prismtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"golang.org/x/sys/unix"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// What a child of a test program is told: that it is to run the tests, or Prism at a port.
const (
	testsEnv = "DPNB_TEST_NETWORK"
	prismEnv = "DPNB_TEST_PRISM"
)

// Main is for TestMain: it runs the tests of a package in a network of their own, if the system lets its user make one,
// and ends the program.
func Main(m *testing.M) {
	if port := os.Getenv(prismEnv); port != "" {
		fmt.Fprintln(os.Stderr, serve(port))
		os.Exit(1)
	}
	if os.Getenv(testsEnv) == "" {
		runtime.LockOSThread() // whose end would be the child's
		cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
		cmd.Env = append(os.Environ(), testsEnv+"=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}, Pdeathsig: syscall.SIGKILL}
		err := cmd.Run()
		if cmd.ProcessState != nil {
			os.Exit(cmd.ProcessState.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "no network of their own for the tests:", err)
	} else if err := raise(); err != nil {
		fmt.Fprintln(os.Stderr, "no loopback in the network of the tests:", err)
	}
	os.Exit(m.Run())
}

// raise makes loopback work in a network that is new.
func raise() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// alone returns an error unless nobody but this user is in the network of this process: it has no interface but
// loopback, and belongs to a namespace of users that has this one alone.
func alone() error {
	users, err := os.ReadFile("/proc/self/uid_map")
	if f := strings.Fields(string(users)); err != nil || len(f) != 3 || f[2] != "1" {
		return errors.Join(err, errors.New("other users are in this namespace"))
	}
	network, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return err
	}
	defer network.Close()
	owner, err := unix.IoctlRetInt(int(network.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return err
	}
	defer unix.Close(owner)
	var of, own unix.Stat_t
	if err := errors.Join(unix.Fstat(owner, &of), unix.Stat("/proc/self/ns/user", &own)); err != nil {
		return err
	}
	if of.Dev != own.Dev || of.Ino != own.Ino {
		return errors.New("this network is that of other users too")
	}
	interfaces, err := net.Interfaces()
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 || i.Flags&net.FlagUp == 0 {
			err = errors.Join(err, fmt.Errorf("this network has %s (%v)", i.Name, i.Flags))
		}
	}
	return err
}

// serve runs Prism at a port until whoever started this process closes its pipe or ends; it refuses where others could
// reach it.
func serve(port string) error {
	if err := alone(); err != nil {
		return fmt.Errorf("Prism would run programs for anybody: %w", err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	beam.Init()
	if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: n}); err != nil {
		return err
	}
	_, err = os.Stdin.Read(make([]byte, 1))
	return err
}

// Prism is a runner, which is started again when it dies: it panics when a worker is gone.
type Prism struct {
	Address string
	mu      sync.Mutex
	process *os.Process
	stopped bool
}

// Start starts a Prism that ends with the test, which is skipped where tests have no network of their own.
func Start(t testing.TB) *Prism {
	t.Helper()
	if err := alone(); err != nil {
		if testscale.Full() {
			t.Fatal(err)
		}
		t.Skip("Prism has to have a network of its own: ", err)
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Prism{Address: l.Addr().String()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(p.Address)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for p.run(t, port) {
		}
	}()
	t.Cleanup(func() {
		p.Stop()
		<-ended
	})
	for {
		if c, err := net.Dial("tcp", p.Address); err == nil {
			_ = c.Close()
			return p
		}
		if t.Context().Err() != nil {
			t.Fatal("Prism does not start")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run is one life of it; false if there is to be no other.
func (p *Prism) run(t testing.TB, port string) bool {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), prismEnv+"="+port)
	pipe, err := cmd.StdinPipe() // which ends with this process, and so does the child
	if err != nil {
		t.Error(err)
		return false
	}
	defer pipe.Close()
	p.mu.Lock()
	if p.stopped {
		p.mu.Unlock()
		return false
	}
	err = cmd.Start()
	p.process = cmd.Process
	p.mu.Unlock()
	if err != nil {
		t.Error(err)
		return false
	}
	_ = cmd.Wait() // an error, for it was killed or has panicked
	return true
}

// Kill ends it; another is started in its place. False if there is none.
func (p *Prism) Kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process != nil && p.process.Kill() == nil
}

// Stop ends it for good.
func (p *Prism) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.Kill()
}
