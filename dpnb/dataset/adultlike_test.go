package dataset

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
)

var update = flag.Bool("update", false, "write data/adult-like.csv anew")

// The committed sample must be what the generator makes.
func TestSampleIsWhatTheGeneratorMakes(t *testing.T) {
	var b bytes.Buffer
	if err := WriteAdultLike(&b, AdultLikeRows, AdultLikeSeed); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "data", AdultLikeFile)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(have, b.Bytes()) {
		t.Errorf("data/%s is not what the generator makes (%v); write it anew with: go test ./dpnb/dataset -run Sample -update", AdultLikeFile, err)
	}
}

func TestSampleFitsTheSchema(t *testing.T) {
	train, test, err := AdultLike()
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range []*frame.Table{train, test} {
		d, err := frame.NewDesign(tab, AdultSchema(), frame.DesignSettings{Label: "income", RowNorm: 1})
		if err != nil {
			t.Fatal(err)
		}
		pos := 0
		for _, y := range d.Labels {
			if y > 0 {
				pos++
			}
		}
		if s := float64(pos) / float64(d.Rows.N); s < 0.15 || s > 0.4 {
			t.Errorf("a share of %v earns more than 50K", s)
		}
		if tab.Source.Note == "" {
			t.Error("the sample does not say that it is one")
		}
	}
}
