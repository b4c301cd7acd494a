package dataset

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/project"
)

const adultNote = "The Adult census data (1994): real people, whose records were made public."

// Adult returns the training and the test part of the Adult data. Where the files are not on this machine, wherever the
// program runs, it returns adultLike: invented people; the Source of the tables says so.
//
// Errors: a file that is there but is not the published one.
func Adult() (train, test *frame.Table, err error) {
	var tables [2]*frame.Table
	for k, file := range Sets["adult"] {
		path, err := Find(file.Name)
		if errors.Is(err, ErrMissing) {
			return adultLike()
		}
		if err != nil {
			return nil, nil, err
		}
		t, err := frame.ReadCSVFile(path, AdultCSV())
		if err != nil {
			return nil, nil, err
		}
		if t.Source.SHA256 != file.SHA256 {
			return nil, nil, &ChecksumError{Name: file.Name, Want: file.SHA256, Got: t.Source.SHA256}
		}
		t.Source.Public, t.Source.Note = true, adultNote
		tables[k] = t
	}
	for _, t := range tables {
		if err := t.Source.Log(); err != nil {
			return nil, nil, err
		}
	}
	return tables[0], tables[1], nil
}

// adultLike returns 30,000 invented people to learn from and 10,000 to test on. They are drawn in memory, the same ones
// everywhere, and need no file.
func adultLike() (train, test *frame.Table, err error) {
	return AdultLikeHead(AdultLikeTrainRows, AdultLikeTestRows)
}

// AdultLikeHead returns the first people of either part of adultLike, where fewer will do.
//
// Errors: fewer than one.
func AdultLikeHead(trainRows, testRows int) (train, test *frame.Table, err error) {
	if train, err = invented("adult-like.train", trainRows, adultLikeTrainSeed); err != nil {
		return nil, nil, err
	}
	if test, err = invented("adult-like.test", testRows, adultLikeTestSeed); err != nil {
		return nil, nil, err
	}
	return train, test, nil
}

func invented(name string, rows int, seed uint64) (*frame.Table, error) {
	if rows < 1 {
		return nil, fmt.Errorf("dataset: %d invented people, want at least one", rows)
	}
	var text bytes.Buffer
	if err := writeAdultLike(&text, rows, seed); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text.Bytes())
	settings := AdultCSV()
	settings.Header, settings.TrimSuffix = nil, ""
	t, err := frame.ReadCSV(&text, settings)
	if err != nil {
		return nil, err
	}
	t.Source = frame.Source{Name: name, SHA256: fmt.Sprintf("%x", sum), Rows: rows, Public: true, Invented: true,
		Note: "INVENTED PEOPLE, not the Adult census data, which are not on this machine. " +
			"Their columns have round marginals and their incomes follow a logistic model " +
			"(dpnb/dataset/adultlike.go). " +
			"Fetch the data with: " + project.Command() + " data adult"}
	return t, t.Source.Log()
}
