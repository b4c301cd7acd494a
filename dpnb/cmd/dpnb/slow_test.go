package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// lines sends what is written.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

func TestSlowCommandsSaySo(t *testing.T) {
	got := make(lines, 3)
	tellIfSlow(&cobra.Command{Use: "report"}, got, 0)
	tellIfSlow(&cobra.Command{Use: "epsilon"}, got, time.Hour)()
	defer tellIfSlow(&cobra.Command{Use: "sigma"}, got, 0)()
	if s := <-got; !strings.HasPrefix(s, "dpnb sigma: still computing") {
		t.Errorf("%q", s)
	}
}
