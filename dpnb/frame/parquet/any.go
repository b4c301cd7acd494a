package parquet

import (
	"bytes"
	"os"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// Columnar reports whether the file at path begins as Parquet and Arrow files do.
func Columnar(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // who opens it says why
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [6]byte
	_, _ = f.ReadAt(magic[:], 0)
	return bytes.HasPrefix(magic[:], []byte("PAR1")) || string(magic[:]) == "ARROW1"
}

// OpenAny is Open for a Parquet or an Arrow file, and frame.ScanCSV for another.
func OpenAny(path string, settings *Settings, csv *frame.CSVSettings) (frame.Scanner, error) {
	if Columnar(path) {
		return Open(path, settings)
	}
	return frame.ScanCSV(path, csv)
}
