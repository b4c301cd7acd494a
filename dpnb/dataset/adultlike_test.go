package dataset

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// The people are the published ones, to the last digit: notebooks and claims rest on them.
func TestInventedPeopleAreThePublishedOnes(t *testing.T) {
	for _, part := range []struct {
		rows int
		seed uint64
		sum  string
	}{{AdultLikeTrainRows, adultLikeTrainSeed, AdultLikeTrainSHA256}, {AdultLikeTestRows, adultLikeTestSeed,
		adultLikeTestSHA256}} {
		var b bytes.Buffer
		must.Do(writeAdultLike(&b, part.rows, part.seed))
		if sum := fmt.Sprintf("%x", sha256.Sum256(b.Bytes())); sum != part.sum {
			t.Errorf("seed %d: sha256 %s, published %s", part.seed, sum, part.sum)
		}
	}
}

// The shares of every column are percentages of all people: what is beyond a hundred would never be drawn.
func TestSharesAddUp(t *testing.T) {
	for _, shares := range [][]share{workclasses, educations, maritals, occupations, races, sexes, countries} {
		sum := 0.0
		for _, s := range shares {
			sum += s.percent
		}
		if sum != 100 {
			t.Errorf("%s and others have %v percent", shares[0].name, sum)
		}
	}
}

// Adult returns people in a folder that knows nothing of the project, and they are said to be invented.
func TestAdultNeedsNoCloneAndNoFile(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(DirEnv, "")
	train, test := must.Two(Adult())
	if train.Rows() != AdultLikeTrainRows || test.Rows() != AdultLikeTestRows {
		t.Errorf("%d and %d rows", train.Rows(), test.Rows())
	}
	for _, part := range []*frame.Table{train, test} {
		if s := part.Source; !strings.HasPrefix(s.Note, "INVENTED PEOPLE") || !s.Public || s.Rows != part.Rows() {
			t.Errorf("source %+v", s)
		}
	}
	if train.Source.SHA256 != AdultLikeTrainSHA256 || test.Source.SHA256 != adultLikeTestSHA256 {
		t.Errorf("checksums %s, %s", train.Source.SHA256, test.Source.SHA256)
	}
	// A folder that is named and has no such file is no error either.
	t.Setenv(DirEnv, t.TempDir())
	if _, _, err := Adult(); err != nil {
		t.Error(err)
	}
	// A file that is there and wrong is one.
	t.Setenv(DirEnv, ".")
	must.Do(os.WriteFile("adult.data", []byte("39, State-gov\n"), 0o644))
	if _, _, err := Adult(); err == nil {
		t.Error("a wrong file is passed over")
	}
}

func TestInventedPeopleFitTheSchema(t *testing.T) {
	train, test := must.Two(AdultLikeHead(3000, 1000))
	for _, tab := range []*frame.Table{train, test} {
		d := must.Get(frame.NewDesign(tab, AdultSchema(), frame.DesignSettings{Label: "income", RowNorm: 1}))
		pos := 0
		for _, y := range d.Labels {
			if y > 0 {
				pos++
			}
		}
		if s := float64(pos) / float64(d.Records()); s < 0.2 || s > 0.35 {
			t.Errorf("a share of %v earns more than 50K", s)
		}
	}
	// The head is the head of the whole, and the two parts are different people.
	few, other := must.Two(AdultLikeHead(5, 5))
	row := func(t *frame.Table, i int) (text string) {
		for _, name := range adultHeader {
			c, _ := t.Column(name)
			text += c.Text(i) + ","
		}
		return text
	}
	for i := range 5 {
		if row(few, i) != row(train, i) || row(few, i) == row(other, i) {
			t.Errorf("row %d: %s, %s, %s", i, row(few, i), row(train, i), row(other, i))
		}
	}
	if _, _, err := AdultLikeHead(0, 5); err == nil {
		t.Error("nobody is accepted")
	}
}
