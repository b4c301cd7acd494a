package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/spf13/cobra"
)

// A command that computes for long says so, until the first of its output; one that tells by itself does not.
func TestSlowCommandsSaySo(t *testing.T) {
	from, to := must.Two(os.Pipe())
	defer from.Close()
	defer to.Close()
	tellIfSlow(&cobra.Command{Use: "report"}, to, 0)()
	tellIfSlow(&cobra.Command{Use: "epsilon"}, to, time.Hour)()
	var out bytes.Buffer
	early := &cobra.Command{Use: "describe"}
	early.SetOut(&out)
	defer tellIfSlow(early, to, 100*time.Millisecond)()
	fmt.Fprint(early.OutOrStdout(), "the answer")
	time.Sleep(200 * time.Millisecond)
	defer tellIfSlow(&cobra.Command{Use: "fit"}, to, 0)()
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "dpnb fit: reading the records and") || out.String() != "the answer" {
		t.Errorf("%q, %q, %v", line, &out, err)
	}
}
