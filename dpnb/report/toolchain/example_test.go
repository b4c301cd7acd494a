package toolchain_test

import (
	"fmt"
	"os"

	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// The project's kernel stands before every other that Jupyter might know.
func ExampleKernel_Environ() {
	os.Setenv("JUPYTER_PATH", "/home/ada/jupyter")
	os.Setenv("PATH", "/usr/bin")
	k := toolchain.Kernel{Path: "/cache/jupyter", Bin: "/cache/bin"}
	for _, entry := range k.Environ(nil) {
		fmt.Println(entry)
	}
	// Output:
	// JUPYTER_PATH=/cache/jupyter:/home/ada/jupyter
	// PATH=/cache/bin:/usr/bin
}
