package figure

import (
	"image"
	"image/color"
	"testing"
)

// An image of few colours stays as it is; of many it has 256, the frequent ones as they were and every other near its
// own, whatever order they come in.
func TestPaletted(t *testing.T) {
	few := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		few.SetRGBA(i%16, i/16, color.RGBA{uint8(i), 0, 7, 255})
	}
	for i, out := 0, paletted(few); i < 256; i++ {
		if got, want := out.At(i%16, i/16), few.At(i%16, i/16); got != want {
			t.Fatalf("%v became %v", want, got)
		}
	}
	// A cube of 4,096 colours once each, and two lines of colours between them.
	many, line := image.NewRGBA(image.Rect(0, 0, 64, 66)), [2]color.RGBA{{1, 2, 3, 255}, {250, 128, 64, 255}}
	for i := range 4096 {
		r, g, b := i%16, i/16%16, i/256
		many.SetRGBA(i%64, i/64, color.RGBA{uint8(17 * r), uint8(17 * g), uint8(17 * b), 255})
	}
	for x := range 64 {
		many.SetRGBA(x, 64, line[0])
		many.SetRGBA(x, 65, line[1])
	}
	out := paletted(many)
	if len(out.Palette) != colours {
		t.Errorf("%d colours", len(out.Palette))
	}
	for y := range 66 {
		for x := range 64 {
			got, want := out.At(x, y).(color.RGBA), many.RGBAAt(x, y)
			if y >= 64 && got != line[y-64] {
				t.Fatalf("a line of %v is %v", line[y-64], got)
			}
			if d := squared(got, want); d > 3*51*51 { // 256 points cover the cube by balls of about three steps
				t.Fatalf("%v became %v", want, got)
			}
		}
	}
}
