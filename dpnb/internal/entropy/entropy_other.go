//go:build unix && !linux

package entropy

func read(b []byte) error { return device(b) }
