package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// sealed is a file of JSON with its format, a version of it and a checksum.
type sealed struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// SHA256 is of the format, the version and the content without spaces.
	SHA256  string          `json:"sha256"`
	Content json.RawMessage `json:"content"`
}

func (f sealed) checksum() (string, error) {
	b := bytes.NewBufferString(fmt.Sprintf("%s %d\n", f.Format, f.Version))
	if err := json.Compact(b, f.Content); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), nil
}

// seal returns a file of the content, which is JSON.
func seal(format string, version int, content []byte) ([]byte, error) {
	f := sealed{Format: format, Version: version, Content: content}
	var err error
	if f.SHA256, err = f.checksum(); err != nil {
		return nil, err
	}
	return marshal(f)
}

// marshal is json.Marshal with indents, and letters as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// unseal returns the content of a file and its version, from 1 to the last one.
//
// Errors: one that is no such file, was changed, or is of another version.
func unseal(format string, last int, file []byte) (content []byte, version int, err error) {
	var head struct {
		Format  string
		Version int
	}
	switch err := json.Unmarshal(file, &head); {
	case err != nil || head.Format != format:
		return nil, 0, fmt.Errorf("this is no file of a %s, or not all of it", format)
	case head.Version < 1 || head.Version > last:
		return nil, 0, fmt.Errorf("the %s is in version %d of its format, and the last that this program reads is %d: "+
			"it was saved by another version of the module; use that one, or make it again", format, head.Version, last)
	}
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var f sealed
	if err := d.Decode(&f); err != nil {
		return nil, 0, fmt.Errorf("this is no file of a %s: %w", format, err)
	}
	if sum, err := f.checksum(); err != nil || sum != f.SHA256 {
		return nil, 0, errors.New("the file was changed after it was saved: its checksum does not fit what it holds, " +
			"so that neither its numbers nor its guarantee can be relied on; get it anew from where it came from")
	}
	return f.Content, head.Version, nil
}
