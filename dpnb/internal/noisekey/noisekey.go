// Package noisekey has the keys of noise that can be drawn again. It is internal so that no other program can have
// noise that it knows, or draw the same twice, and pass that for secure. A Key has no methods: a program that cannot
// name the type can still have a value of it, by the inference of type parameters, and call those, or have
// encoding/json call them.
package noisekey

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/dpnb/notebooks/dpnb/internal/entropy"
)

// Key is of what a secure source draws that can be begun again: as secret as the noise itself, of which whoever has it
// can draw all. The zero value is none.
type Key struct{ bits [32]byte }

// New draws a key from the operating system's generator.
func New() (k Key) {
	entropy.Read(k.bits[:])
	return k
}

// Derived returns the HMAC-SHA-256 of a purpose and a number: keys that tell nothing of each other.
func Derived(k Key, purpose string, number uint64) Key {
	mac := hmac.New(sha256.New, k.bits[:])
	_, _ = mac.Write(binary.LittleEndian.AppendUint64([]byte(purpose), number))
	return Key{[32]byte(mac.Sum(nil))}
}

// Stream returns the bits of a key: AES-256 in counter mode.
func Stream(k Key) cipher.Stream {
	block, err := aes.NewCipher(k.bits[:])
	if err != nil {
		panic(err) // of another length than Key has
	}
	return cipher.NewCTR(block, make([]byte, aes.BlockSize))
}

// Text returns a key as a text, which Parse reads.
func Text(k Key) string { return base64.StdEncoding.EncodeToString(k.bits[:]) }

// Parse returns the key of a text.
func Parse(text string) (k Key, err error) {
	bits, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(bits) != len(k.bits) || [32]byte(bits) == k.bits {
		return Key{}, errors.New("noisekey: no key")
	}
	return Key{[32]byte(bits)}, nil
}
