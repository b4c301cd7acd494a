package noisekey

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Derived keys and streams are those of Python's hmac and of OpenSSL's aes-256-ctr, with the key 00 01 … 1f.
func TestStandards(t *testing.T) {
	const text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	k := must.Get(Parse(text))
	if Text(k) != text {
		t.Errorf("%s is read as %s", text, Text(k))
	}
	derived := Derived(k, "purpose", 7)
	if got := hex.EncodeToString(derived.bits[:]); got !=
		"4598fe8be2e85396990cc09987f7a069da9c9cd94b7315da196c02a4e1183700" {
		t.Errorf("derived: %s", got)
	}
	b := make([]byte, 32)
	Stream(k).XORKeyStream(b, b)
	if got := hex.EncodeToString(b); got != "f29000b62a499fd0a9f39a6add2e7780f05d76ae4ab99fe5a6f69b3148c2363d" {
		t.Errorf("stream: %s", got)
	}
}

// Every key is another one, and what is none is refused.
func TestKeys(t *testing.T) {
	k := New()
	seen := map[Key]bool{{}: true, k: true}
	for _, other := range []Key{New(), Derived(k, "a", 1), Derived(k, "a", 1<<32), Derived(k, "b", 1)} {
		if seen[other] {
			t.Error("a key that was there before")
		}
		seen[other] = true
	}
	for _, n := range []int{0, 31, 32, 33} { // 32 zeros are the key that is none
		if _, err := Parse(base64.StdEncoding.EncodeToString(make([]byte, n))); err == nil {
			t.Errorf("%d zeros are taken for a key", n)
		}
	}
	if _, err := Parse(Text(k) + "!"); err == nil {
		t.Error("a text that is none is taken")
	}
}
