package frame

import (
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// encodingNames are the encodings of files that are read, and encodings those but UTF-8.
var (
	encodingNames = []string{"UTF-8", "UTF-16", "UTF-16LE", "UTF-16BE", "Latin-1", "Windows-1252"}
	encodings     = map[string]encoding.Encoding{
		"UTF-16":   unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"UTF-16LE": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"UTF-16BE": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"Latin-1":  charmap.ISO8859_1, "Windows-1252": charmap.Windows1252,
	}
)

// encodingName returns the name that is meant, "" for UTF-8.
func encodingName(asked string) (name string, known bool) {
	switch strings.ToUpper(asked) {
	case "", "UTF8", "UTF-8":
		return "", true
	case "ISO-8859-1", "LATIN1":
		asked = "Latin-1"
	case "CP1252":
		asked = "Windows-1252"
	}
	k := slices.IndexFunc(encodingNames, func(n string) bool { return strings.EqualFold(n, asked) })
	if k < 0 {
		return "", false
	}
	return encodingNames[k], true
}
