package noise

import (
	"crypto/cipher"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/internal/noisekey"
)

// OfKey returns a secure source of which every bit is a function of the key: AES-256 in counter mode, a stream for each
// run of a mechanism. It is for a release that has to go on after its program was killed: drawn again in the same
// order, the noise is the same. Two releases of one key would have the same noise, which could be subtracted: one key
// is for one release, and gone before that is seen. It panics if there is no key.
func OfKey(k noisekey.Key) *Secure { return &Secure{keyed: newKeyed(k)} }

// keyed is a stream of a key, and the family of streams that are derived from it.
type keyed struct {
	key  noisekey.Key
	runs atomic.Uint64

	mu     sync.Mutex
	stream cipher.Stream
}

func newKeyed(k noisekey.Key) *keyed {
	if k == (noisekey.Key{}) {
		panic("noise: no key was drawn")
	}
	return &keyed{key: k, stream: noisekey.Stream(noisekey.Derived(k, "bits", 0))}
}

// next returns the stream of the next run.
func (k *keyed) next() *keyed { return newKeyed(noisekey.Derived(k.key, "run", k.runs.Add(1))) }

// Uint64 returns the next 64 bits of the stream.
func (k *keyed) Uint64() uint64 {
	var b [8]byte
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stream.XORKeyStream(b[:], b[:])
	return binary.LittleEndian.Uint64(b[:])
}
