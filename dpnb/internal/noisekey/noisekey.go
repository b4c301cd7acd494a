// Package noisekey has the keys of noise that can be drawn again. It is internal so that no other program can have
// noise that it knows, or draw the same twice, and pass that for secure.
package noisekey

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// Key is of what a secure source draws that can be begun again: as secret as the noise itself,
// of which whoever has it can draw all. The zero value is none.
type Key struct{ bits [32]byte }

// New draws a key from the operating system's generator.
func New() (k Key) {
	_, _ = rand.Read(k.bits[:])
	return k
}

// Derived returns the HMAC-SHA-256 of a purpose and a number: keys that tell nothing of each other.
func (k Key) Derived(purpose string, number uint64) Key {
	mac := hmac.New(sha256.New, k.bits[:])
	_, _ = mac.Write(binary.LittleEndian.AppendUint64([]byte(purpose), number))
	return Key{[32]byte(mac.Sum(nil))}
}

// Stream returns the bits of the key: AES-256 in counter mode.
func (k Key) Stream() cipher.Stream {
	block, err := aes.NewCipher(k.bits[:])
	if err != nil {
		panic(err) // of another length than Key has
	}
	return cipher.NewCTR(block, make([]byte, aes.BlockSize))
}

// MarshalJSON implements json.Marshaler.
func (k Key) MarshalJSON() ([]byte, error) { return json.Marshal(k.bits[:]) }

// UnmarshalJSON implements json.Unmarshaler.
func (k *Key) UnmarshalJSON(text []byte) error {
	var bits []byte
	if err := json.Unmarshal(text, &bits); err != nil || len(bits) != len(k.bits) {
		return errors.New("noisekey: no key")
	}
	k.bits = [32]byte(bits)
	return nil
}
