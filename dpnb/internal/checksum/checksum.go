// Package checksum writes JSON into files with a format, a version and a checksum, and reads what it has written and
// nothing else. A checksum guards against accidents: a bad disk, an editor, half a copy. Against malice it guards
// nothing, for whoever can change the file can compute it anew.
package checksum

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// file is a file of JSON with its format, a version of it and a checksum.
type file struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// SHA256 is of the format, the version and the content without spaces.
	SHA256  string          `json:"sha256"`
	Content json.RawMessage `json:"content"`
}

func (f file) checksum() (string, error) {
	b := bytes.NewBufferString(fmt.Sprintf("%s %d\n", f.Format, f.Version))
	if err := json.Compact(b, f.Content); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), nil
}

// Seal returns a file of the content, which is JSON.
func Seal(format string, version int, content []byte) ([]byte, error) {
	f := file{Format: format, Version: version, Content: content}
	var err error
	if f.SHA256, err = f.checksum(); err != nil {
		return nil, err
	}
	return Marshal(f)
}

// Marshal is Indented by a space.
func Marshal(v any) ([]byte, error) { return Indented(v, " ") }

// Indented is json.MarshalIndent with letters as they are, "<" no "\u003c", and a newline at the end.
func Indented(v any, by string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", by)
	err := e.Encode(v)
	return b.Bytes(), err
}

// ErrChanged is the error of a file whose checksum does not fit.
var ErrChanged = errors.New("the file was changed after it was saved: its checksum does not fit what it holds")

// Unseal returns the content of a file and its version, from 1 to the last one.
//
// Errors: one that is no such file, was changed, or is of another version.
func Unseal(format string, last int, text []byte) (content []byte, version int, err error) {
	var head struct {
		Format  string
		Version int
	}
	switch err := json.Unmarshal(text, &head); {
	case err != nil || head.Format != format:
		return nil, 0, fmt.Errorf("this is no file of a %s, or not all of it", format)
	case head.Version < 1 || head.Version > last:
		return nil, 0, fmt.Errorf("the %s is in version %d of its format, and the last that this program reads is %d: "+
			"it was saved by another version of the module; use that one", format, head.Version, last)
	}
	var f file
	if err := Read(text, &f); err != nil {
		return nil, 0, fmt.Errorf("this is no file of a %s: %w", format, err)
	}
	if sum, err := f.checksum(); err != nil || sum != f.SHA256 {
		return nil, 0, ErrChanged
	}
	return f.Content, f.Version, nil
}

// Read is json.Unmarshal of nothing but what v itself would be written as, spaces aside: a key that v does not have,
// that is missing, there twice or written with other letters is an error, where json.Unmarshal takes no notice of it.
func Read(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	written, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var compact, escaped bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	if !bytes.Equal(escaped.Bytes(), written) {
		return errors.New("it has other keys or other texts than this program writes")
	}
	return nil
}
