package dataset

import (
	"errors"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// Adult returns the training and the test part of the Adult data. Where the
// files are not on this machine it returns, for both, parts of the sample of
// invented people that comes with the project; the Source of the tables says so.
//
// Errors: a file that is there but is not the published one.
func Adult() (train, test *frame.Table, err error) {
	var tables [2]*frame.Table
	for k, file := range Sets["adult"] {
		path, err := Find(file.Name)
		if errors.Is(err, ErrMissing) {
			return AdultLike()
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
		t.Source.Public = true
		tables[k] = t
	}
	return tables[0], tables[1], nil
}

// AdultLike returns the sample of invented people in two parts, three quarters
// to learn from and the rest to test on.
func AdultLike() (train, test *frame.Table, err error) {
	path, err := Find(AdultLikeFile)
	if err != nil {
		return nil, nil, err
	}
	settings := AdultCSV()
	settings.Header = nil
	settings.TrimSuffix = ""
	t, err := frame.ReadCSVFile(path, settings)
	if err != nil {
		return nil, nil, err
	}
	t.Source.Public = true
	t.Source.Note = fmt.Sprintf("A SAMPLE OF %d INVENTED PEOPLE, not the Adult census data, which are not on this machine: expect much lower accuracy. "+
		"Fetch the data with: go run ./dpnb/cmd/dpnb data adult", t.Rows())
	cut := t.Rows() * 3 / 4
	return t.Slice(0, cut), t.Slice(cut, t.Rows()), nil
}
