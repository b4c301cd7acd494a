package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// Key is of what a secure source draws that can be begun again: as secret as the noise itself,
// of which whoever has it can draw all.
type Key [32]byte

// NewKey draws a key from the operating system's generator.
func NewKey() (k Key) {
	_, _ = crand.Read(k[:])
	return k
}

// OfKey returns a secure source of which every bit is a function of the key: AES-256 in counter
// mode, a stream for each run of a mechanism. It is for a release that has to go on after its
// program was killed: drawn again in the same order, the noise is the same. Two releases of one key
// would have the same noise, which could be subtracted: one key is for one release, and
// gone before that is seen.
func OfKey(k Key) *Secure { return &Secure{keyed: newKeyed(k)} }

// keyed is a stream of a key, and the family of streams that are derived from it.
type keyed struct {
	key  Key
	runs atomic.Uint64

	mu     sync.Mutex
	stream cipher.Stream
}

func newKeyed(k Key) *keyed {
	of := k.derived("bits", 0)
	block, err := aes.NewCipher(of[:])
	if err != nil {
		panic(err) // of another length than Key has
	}
	return &keyed{key: k, stream: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

// derived returns the HMAC-SHA-256 of a purpose and a number: keys that tell nothing of each other.
func (k Key) derived(purpose string, number uint64) Key {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write(binary.LittleEndian.AppendUint64([]byte(purpose), number))
	return Key(mac.Sum(nil))
}

// next returns the stream of the next run.
func (k *keyed) next() *keyed { return newKeyed(k.key.derived("run", k.runs.Add(1))) }

// Uint64 returns the next 64 bits of the stream.
func (k *keyed) Uint64() uint64 {
	var b [8]byte
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stream.XORKeyStream(b[:], b[:])
	return binary.LittleEndian.Uint64(b[:])
}
