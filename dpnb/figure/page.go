package figure

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
)

// page is figures side by side.
type page struct {
	panels  []*Figure
	columns int
	caption string
}

// Page returns one figure of several, from the left to the right and down in so many columns, with a caption below
// them. A row is as high as its highest figure.
func Page(title, caption string, columns int, panels ...*Figure) *Figure {
	f := New(title, "", "")
	f.page = &page{panels, max(1, columns), numeral.Tidy(caption)}
	f.Height = 0.45
	for _, row := range f.page.rows() {
		f.Height += row[0].rowHeight(row)
	}
	f.Height += float64(f.page.captionHeight(f.width()) / vg.Inch)
	for _, p := range panels {
		if p.err != nil {
			f.fail(p.err)
		}
		f.drawn = append(f.drawn, strings.TrimRight(p.Numbers(), "\n"))
	}
	if len(panels) == 0 {
		f.fail(fmt.Errorf("figure: a page without figures"))
	}
	return f
}

func (p *page) rows() (rows [][]*Figure) {
	for i := 0; i < len(p.panels); i += p.columns {
		rows = append(rows, p.panels[i:min(i+p.columns, len(p.panels))])
	}
	return rows
}

// rowHeight is the largest height of figures of a row, in inches.
func (f *Figure) rowHeight(row []*Figure) (height float64) {
	for _, p := range row {
		height = max(height, p.Height)
	}
	return height
}

// captionStyle is that of captions.
func captionStyle() text.Style {
	s := style(9.5, Ink)
	s.YAlign = text.YTop
	return s
}

// lines are those of the caption where the page is so wide.
func (p *page) lines(width vg.Length) []string {
	return broken(p.caption, captionStyle(), width-2*vg.Points(margin))
}

func (p *page) captionHeight(width vg.Length) vg.Length {
	return (vg.Length(len(p.lines(width))) + 0.5) * captionStyle().FontExtents().Height * 1.2
}

// broken returns a text as lines no wider than the room, but for words that are.
func broken(words string, s text.Style, room vg.Length) (lines []string) {
	line := ""
	for _, word := range strings.Fields(words) {
		if longer := strings.TrimSpace(line + " " + word); line == "" || s.Width(longer) <= room {
			line = longer
			continue
		}
		lines, line = append(lines, line), word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// draw draws the page; title is written at its top.
func (p *page) draw(c draw.Canvas, title text.Style, words string) {
	width := c.Max.X - c.Min.X
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y}, words)
	top := c.Max.Y - vg.Points(26)
	for _, row := range p.rows() {
		height := vg.Length(row[0].rowHeight(row)) * vg.Inch
		for k, f := range row {
			left := c.Min.X + width*vg.Length(k)/vg.Length(p.columns)
			cell := c
			cell.Rectangle = vg.Rectangle{Min: vg.Point{X: left, Y: top - vg.Length(f.Height)*vg.Inch},
				Max: vg.Point{X: left + width/vg.Length(p.columns), Y: top}}
			f.draw(cell)
		}
		top -= height
	}
	s := captionStyle()
	for i, line := range p.lines(width + 2*vg.Points(margin)) {
		c.FillText(s, vg.Point{X: c.Min.X, Y: top - vg.Length(i)*s.FontExtents().Height*1.2}, line)
	}
}

// words describes the figures of the page, one after the other.
func (p *page) words() string {
	var all []string
	for _, f := range p.panels {
		all = append(all, f.Words())
	}
	return strings.Join(all, " ")
}
