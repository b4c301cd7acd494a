package frame

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// records reads the lines of a file as lists of texts, leading spaces trimmed.
type records interface {
	// Read returns the next record, which is valid until the next call, or io.EOF.
	Read() ([]string, error)
	// line returns the number of the line of the last record's field j.
	line(j int) int
	// expect sets how many fields every further record must have.
	expect(fields int)
}

// newRecords returns a reader of data. Files without a quotation mark, which is
// most of them, are cut at commas and line ends; others go to encoding/csv. Both
// give the same records (FuzzPlainRecords).
func newRecords(data []byte, comment rune) records {
	if bytes.IndexByte(data, '"') < 0 && comment < 0x80 {
		return &plainRecords{rest: string(data), comment: byte(comment)}
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.ReuseRecord = true
	r.TrimLeadingSpace = true
	r.Comment = comment
	return quotedRecords{r}
}

type quotedRecords struct{ *csv.Reader }

func (q quotedRecords) line(j int) int { line, _ := q.FieldPos(j); return line }
func (q quotedRecords) expect(n int)   { q.FieldsPerRecord = n }

// plainRecords cuts a text without quotation marks. It allocates nothing but
// the list of fields, whose texts are parts of the file's.
type plainRecords struct {
	rest    string
	comment byte // zero is none
	number  int  // of the last line read
	fields  []string
	want    int
}

func (p *plainRecords) line(int) int { return p.number }
func (p *plainRecords) expect(n int) { p.want = n }

// Read implements records.
func (p *plainRecords) Read() ([]string, error) {
	for p.rest != "" {
		line, rest, ended := strings.Cut(p.rest, "\n")
		p.rest = rest
		p.number++
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if p.comment != 0 && line != "" && line[0] == p.comment {
			continue
		}
		if line == "" && (ended || rest == "") {
			continue
		}
		p.fields = p.fields[:0]
		for {
			field, after, more := strings.Cut(line, ",")
			if field != "" && (field[0] <= ' ' || field[0] >= 0x80) {
				field = strings.TrimLeftFunc(field, unicode.IsSpace)
			}
			p.fields = append(p.fields, field)
			if !more {
				break
			}
			line = after
		}
		if p.want == 0 {
			p.want = len(p.fields)
		}
		if len(p.fields) != p.want {
			return nil, fmt.Errorf("record on line %d: wrong number of fields", p.number)
		}
		return p.fields, nil
	}
	return nil, io.EOF
}
