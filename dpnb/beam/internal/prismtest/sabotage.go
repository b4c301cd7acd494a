package prismtest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// Sabotage returns what has pieces of work fail, or their program die: a file "fail" or "die" with a number in the
// folder that a variable of the environment names has so many do so.
func Sabotage(env string) func(int) error {
	return func(int) error {
		for _, kind := range []string{"fail", "die"} {
			path := filepath.Join(os.Getenv(env), kind)
			b, _ := os.ReadFile(path)
			left, _ := strconv.Atoi(string(b))
			if left == 0 {
				continue
			}
			if err := os.WriteFile(path, []byte(strconv.Itoa(left-1)), 0o600); err != nil {
				return err
			}
			if kind == "die" {
				os.Exit(3)
			}
			return errors.New("injected")
		}
		return nil
	}
}
