// Package dataset knows the public data sets that the notebooks use: which files they have, their checksums, and where
// on this machine they are.
//
// Fetching them is the business of package download, so that a notebook that only reads does not link a network client.
package dataset

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dpnb/notebooks/dpnb/internal/project"
)

// DirEnv names the environment variable with a folder that holds data files. It is looked into before the project's own
// data folder.
const DirEnv = "DPNB_DATA"

// ErrMissing is wrapped by the error of Find when a file is nowhere.
var ErrMissing = errors.New("not on this machine")

// File is one file of a data set.
type File struct {
	Name   string
	SHA256 string // in hexadecimal
	URL    string // of its folder, with a slash at the end
}

// adultURL is where the UCI Machine Learning Repository keeps the data set "Adult", also known as "Census Income".
const adultURL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"

// Sets are the data sets by name.
var Sets = map[string][]File{
	"adult": {
		{"adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", adultURL},
		{"adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", adultURL},
	},
}

// Dir returns the project's folder for data files: of the clone that the program runs in, or else the user's.
func Dir() (string, error) {
	root, err := project.Root(".")
	if err != nil {
		root, err = project.CacheDir()
	}
	return filepath.Join(root, "data"), err
}

// Find returns the path of a data file: in the folder that DPNB_DATA names, else in the project's data folder. It does
// not read the file; Verify does.
//
// Errors: one that wraps ErrMissing and says how to get the file.
func Find(name string) (string, error) {
	var looked []string
	if dir := os.Getenv(DirEnv); dir != "" {
		looked = append(looked, dir)
	}
	if dir, err := Dir(); err == nil {
		looked = append(looked, dir)
	}
	for _, dir := range looked {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is %w: %s", name, ErrMissing, remedy(name))
}

func remedy(name string) string {
	for set, files := range Sets {
		for _, f := range files {
			if f.Name == name {
				return fmt.Sprintf("run `%s data %s`, or let %s name the folder that has it", project.Command(),
					set, DirEnv)
			}
		}
	}
	return fmt.Sprintf("let %s name the folder that has it", DirEnv)
}

// Checksum returns the SHA-256 of a file, in hexadecimal.
func Checksum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// Verify returns an error unless the file at path is f, byte for byte.
func (f File) Verify(path string) error {
	sum, err := Checksum(path)
	if err != nil {
		return err
	}
	if sum != f.SHA256 {
		return &ChecksumError{Name: f.Name, Want: f.SHA256, Got: sum}
	}
	return nil
}

// ChecksumError says that a file is not the one that it should be.
type ChecksumError struct{ Name, Want, Got string }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("%s is not the expected file: its sha256 is %s and should be %s", e.Name, e.Got, e.Want)
}
