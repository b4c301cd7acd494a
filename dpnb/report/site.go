package report

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/page"
)

var (
	//go:embed index.html.tmpl
	indexSource string
	//go:embed gallery.html.tmpl
	gallerySource string

	indexTemplate   = template.Must(template.New("index").Parse(indexSource))
	galleryTemplate = template.Must(template.New("gallery").Parse(gallerySource))
)

// Site writes the pages of the project's notebooks with the outputs that they have, runs none, and beside them the
// pages of docs/, a gallery of all figures and an index.
func Site(ctx context.Context, s *Setup, o Options) (err error) {
	session, err := s.newSession(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.close()) }()
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return err
	}
	for _, path := range o.All {
		nb, err := notebook.ReadFile(path)
		if err != nil {
			return err
		}
		r := Record{Name: Name(path), Title: nb.Title()}
		o.Progress.Step("writing " + r.Name)
		p := reportPage(r, o)
		p.Verdict = ""
		content, err := session.page(ctx, s.Tree.Dir, path, nb, p)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := writeFiles(o.Out, &r, content, nb); err != nil {
			return err
		}
	}
	base, err := newFingerprint(ctx, s)
	if err != nil {
		return err
	}
	return writeSite(ctx, s, o, base)
}

// page returns the page of a notebook, which is p around its cells.
func (s *session) page(ctx context.Context, root, path string, nb *notebook.Notebook, p page.Page) ([]byte, error) {
	shown, formulas, err := takeFormulas(nb)
	if err != nil {
		return nil, err
	}
	inside, err := s.html(ctx, shown, p.Title, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return dress(root, insideProject(root, path), nb, formulas.put(inside), p)
}

// reportPage is the page of a notebook without its body.
func reportPage(r Record, o Options) page.Page {
	p := page.Page{Title: r.Title, Verdict: r.Verdict(), Note: fmt.Sprintf("in %.1f s", r.Seconds)}
	if r.Failure != nil {
		p.Failure = r.Failure.Error()
	}
	list := notebooksOfIndex(o)
	for i, path := range list {
		if Name(path) != r.Name {
			continue
		}
		if i > 0 {
			p.Previous = chapter(list[i-1])
		}
		if i+1 < len(list) {
			p.Next = chapter(list[i+1])
		}
	}
	return p
}

// chapter is the link to the page of a notebook.
func chapter(path string) page.Link {
	l := page.Link{Text: Name(path), Address: Name(path) + ".html"}
	if nb, err := notebook.ReadFile(path); err == nil {
		l.Text = cmp.Or(nb.Title(), l.Text)
	}
	return l
}

// notebooksOfIndex returns all notebooks of the project, and those that were named from elsewhere.
func notebooksOfIndex(o Options) []string {
	var list []string
	seen := map[string]bool{}
	for _, path := range append(o.All[:len(o.All):len(o.All)], o.Notebooks...) {
		if !seen[Name(path)] {
			seen[Name(path)] = true
			list = append(list, path)
		}
	}
	return list
}

// indexRow is one notebook in the index; one that has no page yet has no address.
type indexRow struct {
	Name, Title, Audience, Summary string
	Address, Verdict, Failure      string
	Seconds                        float64
	Picture                        template.URL
	PictureText                    string
	Figures                        []galleryFigure
}

// galleryFigure is one of a notebook's in the gallery.
type galleryFigure struct {
	Address, Text string
	Source        template.URL
}

// writeSite writes what stands around the reports: the pages of docs/, the gallery and the index of all.
func writeSite(ctx context.Context, s *Setup, o Options, base fingerprint) error {
	var docs template.HTML
	if len(o.All) > 0 { // and not a report of one's own alone
		var err error
		if docs, err = writeDocs(ctx, s, o, base); err != nil {
			return err
		}
	}
	index := struct {
		Passed, Failed, Missing int
		Rows                    []indexRow
		Docs                    template.HTML
		Gallery                 bool
	}{Docs: docs}
	for _, path := range notebooksOfIndex(o) {
		row := newIndexRow(path, o)
		switch {
		case row.Failure != "":
			index.Failed++
		case row.Verdict != "":
			index.Passed++
		default:
			index.Missing++
		}
		index.Gallery = index.Gallery || len(row.Figures) > 0
		index.Rows = append(index.Rows, row)
	}
	var body bytes.Buffer
	if err := galleryTemplate.Execute(&body, index.Rows); err != nil {
		return err
	}
	gallery := page.Page{Title: "All figures", Home: home(0), Body: template.HTML(body.String())}
	if err := writePage(o.Out, "gallery.html", gallery); err != nil {
		return err
	}
	body.Reset()
	if err := indexTemplate.Execute(&body, index); err != nil {
		return err
	}
	return writePage(o.Out, indexName, page.Page{Title: "dpnb", Body: template.HTML(body.String())})
}

func newIndexRow(path string, o Options) indexRow {
	row := indexRow{Name: Name(path), Title: Name(path)}
	nb, err := notebook.ReadFile(path)
	if err == nil {
		row.Title = cmp.Or(nb.Title(), row.Title)
		row.Audience, row.Summary = nb.Setting("audience"), nb.Setting("summary")
	}
	if exists(htmlPath(o.Out, row.Name)) {
		row.Address = row.Name + ".html"
		if executed, err := notebook.ReadFile(ipynbPath(o.Out, row.Name)); err == nil {
			for i, f := range pictures(executed) {
				row.Figures = append(row.Figures,
					galleryFigure{row.Address + "#" + page.FigureID(i+1), f.Text, template.URL(f.Source)})
			}
		}
	}
	if len(row.Figures) > 0 {
		shown := 1
		if err == nil {
			if n, err := strconv.Atoi(nb.Setting("picture")); err == nil && 1 <= n && n <= len(row.Figures) {
				shown = n
			}
		}
		row.Picture, row.PictureText = row.Figures[shown-1].Source, row.Figures[shown-1].Text
	}
	if r := readRecord(o.Out, row.Name); r.Name != "" {
		row.Title, row.Verdict, row.Seconds = r.Title, r.Verdict(), r.Seconds
		if r.Failure != nil {
			row.Failure = r.Failure.Error()
		}
	}
	return row
}

// docsKey is where it is kept from what the pages of docs/ were made, and indexInside the inside of their index.
func docsKey(out string) string     { return filepath.Join(out, stateDir, "docs") }
func indexInside(out string) string { return filepath.Join(out, stateDir, "docs-index") }

// docsIndex is the page that lists the others.
const docsIndex = "docs/README.md"

// writeDocs writes a page for each Markdown file of docs/ and for README.md, if anything that they are made of has
// changed, and returns the list of them for the index.
func writeDocs(ctx context.Context, s *Setup, o Options, base fingerprint) (index template.HTML, err error) {
	files, err := documents(s.Tree.Dir)
	if err != nil || len(files) == 0 {
		return "", err
	}
	texts, formulasOf := make([]string, len(files)), make([]formulas, len(files))
	for i, file := range files {
		content, err := os.ReadFile(filepath.Join(s.Tree.Dir, filepath.FromSlash(file)))
		if err != nil {
			return "", err
		}
		texts[i] = formulasOf[i].take(string(content) + o.Below[file])
	}
	key, err := base.ofDocs(ctx, s.Tree.Dir)
	if err != nil {
		return "", err
	}
	key = checksum(fmt.Append([]byte(key), o.Below))
	if known, err := os.ReadFile(docsKey(o.Out)); err == nil && string(known) == key && !o.Force {
		if inside, err := os.ReadFile(indexInside(o.Out)); err == nil {
			return template.HTML(inside), nil
		}
	}
	o.Progress.Step("writing the pages of docs")
	session, err := s.newSession(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, session.close()) }()
	converted, err := session.markdown(ctx, texts)
	if err != nil {
		return "", err
	}
	for i, file := range files {
		inside := formulasOf[i].put([]byte(converted[i]))
		if file == docsIndex {
			body, err := page.Parse(inside)
			if err != nil {
				return "", err
			}
			body.Links(links(s.Tree.Dir, file, "."))
			if index, err = body.Below(); err != nil {
				return "", err
			}
			if err := atomicfile.WriteBelow(indexInside(o.Out), []byte(index)); err != nil {
				return "", err
			}
		}
		if err := writeDocument(s.Tree.Dir, o.Out, file, inside); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
	}
	return index, atomicfile.WriteBelow(docsKey(o.Out), []byte(key))
}

func writeDocument(root, out, file string, inside []byte) error {
	body, err := page.Parse(inside)
	if err != nil {
		return err
	}
	body.Tidy()
	name := place(file)
	body.Links(links(root, file, path.Dir(name)))
	p := page.Page{Title: body.Title(), Home: home(strings.Count(name, "/")), Contents: body.Contents(true)}
	if p.Body, err = body.HTML(); err != nil {
		return err
	}
	return writePage(out, name, p)
}

// documents returns the Markdown files of a project that have a page, relative to its root.
func documents(root string) (files []string, err error) {
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := filepath.Rel(root, p)
		if err == nil && place(filepath.ToSlash(file)) != "" {
			files = append(files, filepath.ToSlash(file))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if exists(filepath.Join(root, "README.md")) {
		files = append([]string{"README.md"}, files...)
	}
	return files, err
}
