package figure

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

const (
	// colours is how many a PNG has whose pixels take a byte each.
	colours = 256
	// frequent is how many of these are the most frequent ones; the others are those farthest from all before them.
	frequent = 128
)

// paletted returns the image with 256 colours, which takes some third of the bytes as a PNG. Lines and bands keep
// theirs, the most frequent; what changes, by little, are the pixels along edges, which mix two of them. An image of no
// more colours stays as it is. Colours that are as frequent, or as far, go by their numbers: the result is always the
// same.
func paletted(im *image.RGBA) *image.Paletted {
	count := map[color.RGBA]int{}
	b := im.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[im.RGBAAt(x, y)]++
		}
	}
	var all []color.RGBA
	for c := range count {
		all = append(all, c)
	}
	number := func(c color.RGBA) uint32 {
		return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.A)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(number(a), number(b)))
	})
	nearest, distance := make([]uint8, len(all)), make([]int, len(all))
	for i := range distance {
		distance[i] = 1 << 30
	}
	var palette color.Palette
	take := func(chosen int) {
		for i, c := range all {
			if d := squared(c, all[chosen]); d < distance[i] {
				nearest[i], distance[i] = uint8(len(palette)), d
			}
		}
		palette = append(palette, all[chosen])
	}
	for i := range all[:min(len(all), frequent)] {
		take(i)
	}
	for len(palette) < min(len(all), colours) {
		far := 0
		for i, d := range distance {
			if d > distance[far] {
				far = i
			}
		}
		take(far)
	}
	index := map[color.RGBA]uint8{}
	for i, c := range all {
		index[c] = nearest[i]
	}
	out := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			out.SetColorIndex(x, y, index[im.RGBAAt(x, y)])
		}
	}
	return out
}

// squared returns the square of the distance of two colours.
func squared(a, b color.RGBA) (sum int) {
	for _, d := range [4]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
		sum += d * d
	}
	return sum
}
