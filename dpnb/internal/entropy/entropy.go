// Package entropy reads the operating system's generator. crypto/rand is not used: its Reader is a variable, which any
// package of a program can replace and then knows all noise that is drawn. No variable is on the way from here to the
// system: on Linux getrandom is called, on other systems of the Unix kind /dev/urandom is opened for each read, on
// Windows ProcessPrng is called.
package entropy

import (
	"encoding/hex"
	"fmt"
	"os"
)

// Read fills b. It ends the program rather than return with less.
func Read(b []byte) {
	if err := read(b); err != nil {
		// A panic could be recovered from, with b as it was.
		fmt.Fprintln(os.Stderr, "dpnb: the operating system's generator cannot be read:", err)
		os.Exit(1)
	}
}

// Text returns 128 bits in hexadecimal: a name that nobody has used before.
func Text() string {
	var b [16]byte
	Read(b[:])
	return hex.EncodeToString(b[:])
}
