//go:build unix

package procgroup

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// TestGrandchildrenEndToo stops a shell whose child ignores the interrupt, as test programs and compilers may.
func TestGrandchildrenEndToo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `(trap "" INT; exec sleep 3600) & echo $!; wait; wait`)
	read, write := must.Two(os.Pipe())
	cmd.Stdout = write
	result := make(chan error, 1)
	go func() { result <- Run(ctx, cmd, 100*time.Millisecond) }()
	line := must.Get(bufio.NewReader(read).ReadString('\n'))
	child := must.Get(strconv.Atoi(strings.TrimSpace(line)))
	cancel()
	if err := <-result; err == nil {
		t.Error("no error")
	}
	for range 3000 { // a minute, of which a busy machine needs a part
		state, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
		if syscall.Kill(child, 0) != nil || err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the grandchild is still running")
}

func TestRunWithoutInterruption(t *testing.T) {
	ctx := context.Background()
	if err := Run(ctx, exec.CommandContext(ctx, "true"), time.Second); err != nil {
		t.Error(err)
	}
	if err := Run(ctx, exec.CommandContext(ctx, "false"), time.Second); err == nil {
		t.Error("no error")
	}
	if err := Run(ctx, exec.CommandContext(ctx, "/absent"), time.Second); err == nil {
		t.Error("no error")
	}
}

// A program that takes no notice of the interrupt is killed after the grace.
func TestGraceEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `trap "" INT; echo ready; for i in $(seq 100); do sleep 0.1; done`)
	read, write := must.Two(os.Pipe())
	cmd.Stdout = write
	result := make(chan error, 1)
	go func() { result <- Run(ctx, cmd, 50*time.Millisecond) }()
	must.Get(bufio.NewReader(read).ReadString('\n'))
	cancel()
	select {
	case err := <-result:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(5 * time.Second):
		t.Error("the program is still running")
	}
}
