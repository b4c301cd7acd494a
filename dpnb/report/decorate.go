package report

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/page"
)

// indexName is the first page of the reports.
const indexName = "index.html"

// sources is where a reader finds what is no page of the site.
const sources = "https://github.com/dpnb/notebooks/blob/main/"

// home is the link to the index from a page depth folders below it.
func home(depth int) page.Link {
	return page.Link{Text: "dpnb", Address: strings.Repeat("../", depth) + indexName}
}

// place is where a file of the project has its page, relative to the folder of the reports: notebooks at the top, pages
// of docs/ in docs/. It is empty for what has none.
func place(file string) string {
	switch dir := path.Dir(file); {
	case dir == "notebooks" && path.Ext(file) == ".ipynb":
		return Name(file) + ".html"
	case file == "README.md":
		return "docs/about.html"
	case path.Ext(file) == ".md" && (dir == "docs" || strings.HasPrefix(dir, "docs/")):
		return strings.TrimSuffix(file, ".md") + ".html"
	}
	return ""
}

// links returns what the addresses in a file of the project become on a page in the folder from of the site: pages of
// the site link to each other, a picture is put into the page, and what else the project has is found where its source
// is.
func links(root, file, from string) func(address string) string {
	return func(address string) string {
		u, err := url.Parse(address)
		if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" {
			return address
		}
		target := path.Join(path.Dir(file), u.Path)
		if path := filepath.Join(root, filepath.FromSlash(target)); !filepath.IsLocal(target) || !exists(path) {
			return address
		}
		if kind := mime.TypeByExtension(path.Ext(target)); strings.HasPrefix(kind, "image/") {
			if content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(target))); err == nil {
				return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content)
			}
		}
		to := place(target)
		if to == "" {
			return sources + target + fragment(u)
		}
		relative, err := filepath.Rel(filepath.FromSlash(from), filepath.FromSlash(to))
		if err != nil {
			return address
		}
		return filepath.ToSlash(relative) + fragment(u)
	}
}

func fragment(u *url.URL) string {
	if u.Fragment == "" {
		return ""
	}
	return "#" + u.EscapedFragment()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// dress makes the page of a notebook from its converted inside; file is where it is in the project, if it is.
func dress(root, file string, nb *notebook.Notebook, inside []byte, p page.Page) ([]byte, error) {
	body, err := page.Parse(inside)
	if err != nil {
		return nil, err
	}
	p.Code = body.Tidy()
	var texts []string
	for _, picture := range pictures(nb) {
		texts = append(texts, picture.Text)
	}
	body.Figures(texts)
	if file != "" {
		body.Links(links(root, file, "."))
	}
	p.Contents = body.Contents(false)
	p.Home = home(0)
	if p.Body, err = body.HTML(); err != nil {
		return nil, err
	}
	return p.Render()
}

// pictures returns the pictures among a notebook's outputs, in order, each with what it tells.
func pictures(nb *notebook.Notebook) (list []notebook.Picture) {
	for _, c := range nb.Cells {
		for _, p := range c.Pictures() {
			p.Text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(p.Text), "[figure: "), "]")
			list = append(list, p)
		}
	}
	return list
}

// insideProject returns the path of a notebook of the project relative to its root, with slashes, or "" for one from
// elsewhere.
func insideProject(root, path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	file, err := filepath.Rel(root, absolute)
	if err != nil || place(filepath.ToSlash(file)) == "" {
		return ""
	}
	return filepath.ToSlash(file)
}

func writePage(out, name string, p page.Page) error {
	content, err := p.Render()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return atomicfile.WriteBelow(filepath.Join(out, filepath.FromSlash(name)), content)
}
