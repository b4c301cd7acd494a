package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// directory returns the package below dpnb that a check is in, and the arguments of go test that choose it.
func directory(check string) (dir string, args []string) {
	kind, rest, found := strings.Cut(check, ":")
	switch {
	case kind == "claim":
		parts := strings.Split(rest, "/")
		for i, p := range parts {
			parts[i] = "^" + regexp.QuoteMeta(p) + "$"
		}
		return "paper", []string{"-run", "^TestClaims$/" + strings.Join(parts, "/") + "/^verdict$"}
	case !found:
		return path.Clean(check), nil
	}
	return path.Clean(kind), []string{"-run", rest}
}

// Sound runs every check of the list on the code as it is: what fails there notices nothing. The go command knows what
// it has tested before.
func Sound(ctx context.Context, root string, checks []string, progress func(check string)) error {
	for _, c := range checks {
		progress(c)
		if r, err := try(ctx, root, "", c, longest); err != nil {
			return err
		} else if r.Caught() {
			return fmt.Errorf("%s fails without any fault: %s: %s", c, r.Test, r.Message)
		}
	}
	return nil
}

// Run plants a fault and runs its checks until one fails.
//
// Errors: the fault cannot be planted or does not build, or a check does not exist.
func Run(ctx context.Context, root string, f Fault) (Result, error) {
	content, err := f.planted(root)
	if err != nil {
		return Result{}, err
	}
	dir, err := os.MkdirTemp("", "dpnb-fault-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	over, err := overlay(root, map[string][]byte{f.File: content}, dir)
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	var r Result
	for _, c := range f.Checks {
		if r, err = try(ctx, root, over, c, cmp.Or(f.Limit, longest)); err != nil || r.Caught() {
			break
		}
	}
	r.ID, r.Hash, r.Seconds = f.ID, f.Hash(), time.Since(start).Seconds()
	if err != nil {
		err = fmt.Errorf("fault %s: %w", f.ID, err)
	}
	return r, err
}

// errBuild is the error of a fault that is no Go.
var errBuild = errors.New("does not build")

// longest is how long a check may take.
const longest = 300 * time.Second

// try runs one check, with an overlay if there is one.
func try(ctx context.Context, root, over, check string, limit time.Duration) (Result, error) {
	dir, args := directory(check)
	full := []string{"test", "-vet=off", "-ldflags=-s -w", "-failfast", "-timeout", limit.String()}
	if over != "" {
		full = append(full, "-overlay", over)
	}
	in, room := module(dir)
	full = append(append(full, args...), "./"+room)
	text, _, err := run(ctx, filepath.Join(root, filepath.FromSlash(in)), "go", full...)
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	switch {
	case strings.Contains(text, "[build failed]"), strings.Contains(text, "[setup failed]"):
		return Result{}, fmt.Errorf("%s %w: %s", check, errBuild, text)
	case strings.Contains(text, "[no tests to run]"):
		return Result{}, fmt.Errorf("%s runs no test", check)
	case err == nil:
		return Result{}, nil
	}
	r := Result{Check: check}
	r.Test, r.Message = firstFailure(text)
	if r.Test == "" && r.Message == "" {
		return Result{}, fmt.Errorf("%s: %w: %s", check, err, text)
	}
	return r, nil
}

var (
	failed  = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)
	message = regexp.MustCompile(`^\s+\w+_test\.go:\d+: (.*)`)
	broken  = regexp.MustCompile(`^(panic: .*|fatal error: .*)`)
)

// firstFailure returns the first test that failed, with its part, and the first line of what it said.
func firstFailure(text string) (test, said string) {
	for _, line := range strings.Split(text, "\n") {
		if m := broken.FindStringSubmatch(line); m != nil && said == "" {
			said = m[1]
		}
		if m := failed.FindStringSubmatch(line); m != nil && (said == "" || test == "") {
			test = m[1]
		} else if m := message.FindStringSubmatch(line); m != nil && said == "" {
			said = m[1]
		}
	}
	said = strings.Join(strings.Fields(said), " ")
	if runes := []rune(said); len(runes) > 140 {
		said = string(runes[:139]) + "…"
	}
	return test, said
}
