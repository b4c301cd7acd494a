package sweep_test

import (
	"context"
	"fmt"
	"os"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/beam/sweep"
	"github.com/dpnb/notebooks/dpnb/paper/sweeps"
)

// Ten trials of each cell in this process.
func ExampleRun() {
	ctx := context.Background()
	on, err := runner.Open(ctx, runner.Where{})
	if err != nil {
		panic(err)
	}
	defer on.Close()
	dir, err := os.MkdirTemp("", "dpnb-sweep-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	err = sweep.Run(ctx, on, sweeps.Request{Name: "noise", Trials: 10}, dir, func(done, total int) {
		if done == total {
			fmt.Println(done, "parts of", total)
		}
	})
	fmt.Println(err)
	// Output:
	// 20 parts of 20
	// <nil>
}
