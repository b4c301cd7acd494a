package figure

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func bowl() (x, y []float64, z [][]float64) {
	for k := range 21 {
		x = append(x, math.Pow(10, float64(k)/10-1))
		y = append(y, float64(k)/10-1)
	}
	for i := range y {
		var row []float64
		for j := range x {
			row = append(row, math.Pow(math.Log10(x[j]), 2)+y[i]*y[i])
		}
		z = append(z, row)
	}
	return x, y, z
}

func TestHeatAndContours(t *testing.T) {
	x, y, z := bowl()
	holed := append([][]float64(nil), z...)
	holed[20] = append([]float64(nil), z[20]...)
	holed[20][20] = math.NaN()
	f := New("A bowl", "x", "y").LogX(0.1, 1, 10).Heat(x, y, holed).Contours(x, y, z, []float64{0.25, 1}, Orange)
	content := must.Get(f.PNG())
	if path := os.Getenv("DPNB_FIGURE"); path != "" {
		must.Do(os.WriteFile(path, content, 0o644))
	}
	img := must.Get(png.Decode(bytes.NewReader(content)))
	// The middle is low, so light; the rim is high, so dark.
	light := func(px, py int) uint32 { r, g, b, _ := img.At(px, py).RGBA(); return r + g + b }
	if centre, rim := light(412, 270), light(112, 270); !(rim < centre*3/4) {
		t.Errorf("light of the centre %d, of the rim %d", centre, rim)
	}
	for name, bad := range map[string]*Figure{
		"holed":   New("", "", "").Contours(x, y, holed, []float64{1}, Blue),
		"ragged":  New("", "", "").Heat(x, y, append(z[:20:20], []float64{1})),
		"short":   New("", "", "").Contours(x, y, z[1:], []float64{1}, Blue),
		"falling": New("", "", "").Heat([]float64{2, 1}, []float64{0, 1}, [][]float64{{1, 2}, {3, 4}}),
	} {
		if _, err := bad.PNG(); err == nil {
			t.Errorf("a map that is %s is drawn", name)
		}
	}
}

func TestBarsAndWhiskers(t *testing.T) {
	edges, heights := []float64{0, 1, 2, 3}, []float64{1, 0, 2}
	x := []float64{0.5, 1.5, 2.5}
	f := New("Bars", "x", "density").Bars(edges, heights, Blue).Whiskers(x, []float64{0.8, 0, 1.7},
		[]float64{1.2, 0.1, 2.3}, Orange)
	must.Get(f.PNG())
	if _, err := New("", "", "").Bars(edges[1:], heights, Blue).PNG(); err == nil {
		t.Error("bars without edges are drawn")
	}
	if _, err := New("", "", "").LogY().Whiskers(x, []float64{0, 1, 1}, []float64{1, 2, 2}, Blue).PNG(); err == nil {
		t.Error("a whisker that reaches zero is drawn on a logarithmic axis")
	}
}

func TestLabelsStayBelowTheTitle(t *testing.T) {
	y, high := []float64{88, 100, 112}, []float64{12, 12, 12}
	below([]int{0, 1, 2}, y, high, 111)
	for i, want := range []float64{81, 93, 105} {
		if y[i] != want {
			t.Errorf("label %d at %v, want %v", i, y[i], want)
		}
	}
	y = []float64{-2, 10, 40}
	above([]int{0, 1, 2}, y, high, -4)
	if y[0] != 2 || y[1] != 14 || y[2] != 40 {
		t.Errorf("labels above the axis: %v", y)
	}
	y = []float64{10, 50, 90}
	below([]int{0, 1, 2}, y, high, 111)
	if y[0] != 10 || y[1] != 50 || y[2] != 90 {
		t.Errorf("labels that fit are moved: %v", y)
	}
}
