package jupyter_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/dpnb/notebooks/dpnb/report/jupyter"
)

// A machine that has Jupyter with its python3, and no command named jupyter.
func ExampleFind() {
	m := jupyter.Machine{
		LookPath: func(name string) (string, error) {
			if name == "python3" {
				return "/opt/bin/python3", nil
			}
			return "", errors.New("not found")
		},
		ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		Output: func(context.Context, string, ...string) ([]byte, error) {
			return []byte(`{"nbclient": "0.10.2", "nbconvert": "7.16.6", "notebook": "7.3.2"}`), nil
		},
	}
	j, ok := jupyter.Find(context.Background(), m, "/cache")
	fmt.Println(j.Python, ok)
	fmt.Println(j.Frontend())
	// Output:
	// /opt/bin/python3 true
	// notebook true
}
