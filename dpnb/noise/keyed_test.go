package noise

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/noisekey"
)

// TestAKeyGivesTheSameNoise: of one key all that runs, forks and bare bits draw comes again, in the same order; of
// another key, or by another run or fork, nothing does. Sources of keys are secure ones.
func TestAKeyGivesTheSameNoise(t *testing.T) {
	draw := func(k noisekey.Key) (x []float64) {
		src := OfKey(k)
		if Simulated(src) {
			t.Fatal("a simulation")
		}
		add := func(src Source) {
			x = append(x, float64(src.Uint64()>>11), float64(src.Uint64()>>11))
			for range 2 {
				near := make([]float64, 3)
				Exact(src).FillNormal(near, 1)
				x = append(x, near...)
			}
		}
		add(src)
		for range 2 {
			fork, ok := Forks(src)
			if !ok {
				t.Fatal("no forks")
			}
			add(fork(1))
			add(fork(0))
		}
		return x
	}
	k := noisekey.New()
	if read, err := noisekey.Parse(noisekey.Text(k)); err != nil || read != k {
		t.Errorf("a key is read as another one (%v)", err)
	}
	for _, text := range []string{"", "AAAA", noisekey.Text(noisekey.Key{}), noisekey.Text(k) + "AAAA"} {
		if read, err := noisekey.Parse(text); err == nil || read != (noisekey.Key{}) {
			t.Errorf("%q is read as a key", text)
		}
	}
	first, other := draw(k), draw(noisekey.New())
	if !slices.Equal(draw(k), first) {
		t.Error("of one key not the same noise")
	}
	// 80 numbers of 53 bits or more: two are equal by chance with a probability below 80²·2⁻⁵³ < 10⁻¹².
	all := slices.Sorted(slices.Values(slices.Concat(first, other)))
	for i, v := range all[1:] {
		if v == all[i] {
			t.Errorf("%v comes twice", v)
		}
	}
	if len(all) != 80 {
		t.Errorf("%d numbers", len(all))
	}
}

// TestKeyedBitsAreFair: each of the 64 bits of 4,096 words is one in 2,048 ± 320 of them, ten standard deviations,
// which is exceeded with a probability below 64·2·10⁻²³; the words of a counter that is not encrypted are noticed.
func TestKeyedBitsAreFair(t *testing.T) {
	unfair := func(draw func() uint64) (n int) {
		var ones [64]int
		for range 4096 {
			for j, v := 0, draw(); j < 64; j, v = j+1, v>>1 {
				ones[j] += int(v & 1)
			}
		}
		for _, k := range ones {
			if k < 2048-320 || k > 2048+320 {
				n++
			}
		}
		return n
	}
	if n := unfair(OfKey(noisekey.New()).Uint64); n > 0 {
		t.Errorf("%d bits are unfair", n)
	}
	counter := uint64(0)
	if n := unfair(func() uint64 { counter++; return counter }); n == 0 {
		t.Error("a counter goes unnoticed")
	}
}

// Noise of no key, which anyone could draw, is refused.
func TestNoKey(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("noise that is known counts as secure")
		}
	}()
	OfKey(noisekey.Key{})
}

// inferred returns a key of a type that it cannot name.
func inferred[K any](func(K) *Secure) (k K) { return k }

// A program that cannot name the type of a key has a value of it by inference, and can do no more with that: there is
// no method that fills or derives a key, for it or for encoding/json to call, and no field that can be set.
func TestKeysAreFilledByTheirPackageAlone(t *testing.T) {
	k := inferred(OfKey)
	//lint:ignore SA9005 that nothing is filled is what is tried
	_ = json.Unmarshal([]byte(`"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="`), &k)
	//lint:ignore SA9005 that nothing is filled is what is tried
	_ = json.Unmarshal([]byte(`{"bits": [1], "Bits": [1]}`), &k)
	if k != (noisekey.Key{}) {
		t.Error("a key was chosen")
	}
	typed := reflect.TypeOf(k)
	for m := range reflect.PointerTo(typed).Methods() {
		t.Errorf("a key has the method %s", m.Name)
	}
	for f := range typed.Fields() {
		if f.IsExported() {
			t.Errorf("a key has the field %s", f.Name)
		}
	}
}
