package frame

import (
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// encodingNames are the encodings of files that are read.
var encodingNames = []string{"UTF-8", "UTF-16", "UTF-16LE", "UTF-16BE", "Latin-1", "Windows-1252"}

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

// decoder makes UTF-8 of an encoding of encodingNames.
func decoder(name string) *encoding.Decoder {
	switch name {
	case "UTF-16":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
	case "UTF-16LE":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case "UTF-16BE":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	case "Latin-1":
		return charmap.ISO8859_1.NewDecoder()
	}
	return charmap.Windows1252.NewDecoder()
}
