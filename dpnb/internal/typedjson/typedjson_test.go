package typedjson

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

type shape interface{ area() float64 }

type square struct{ Side float64 }

func (s square) area() float64 { return s.Side * s.Side }

// hidden has a field of its own, and a form.
type hidden struct{ side float64 }

func (h hidden) area() float64 { return h.side * h.side }

type scene struct {
	Name    string
	Kind    kind
	Count   uint64
	Numbers []float64
	Main    shape
	Others  []shape
	Fill    *float64
	Pair    [2]float64
	Inner   struct{ On bool }
	left    int `json:"-"`
}

type kind int

// String is not what is written.
func (kind) String() string { return "a kind" }

func codec() *Codec {
	c := New(square{})
	As(c, hidden{}, func(v any) (square, error) { return square{v.(hidden).side}, nil },
		func(s square) (any, error) { return hidden{s.Side}, nil })
	return c
}

// What is read is what was written, to the last bit of every float.
func TestRoundTrip(t *testing.T) {
	numbers := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64,
		math.SmallestNonzeroFloat64, 0.1, 1.0 / 3}
	rng := rand.New(rand.NewPCG(1, 2))
	for len(numbers) < 10000 {
		if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) {
			numbers = append(numbers, x)
		}
	}
	fill := math.Copysign(0, -1)
	in := scene{Name: "ζ <&> \u2028 \"", Kind: 3, Count: math.MaxUint64, Numbers: numbers, Main: hidden{0.1},
		Others: []shape{square{math.Inf(1)}, nil, hidden{2}}, Fill: &fill, Pair: [2]float64{0, 0.1},
		left: 7}
	in.Inner.On = true
	text := must.Get(codec().Marshal(in))
	var out scene
	if err := codec().Unmarshal(text, &out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	in.left = 0
	if !reflect.DeepEqual(in, out) {
		t.Errorf("%+v became %+v", in, out)
	}
	for i, x := range in.Numbers {
		if math.Float64bits(x) != math.Float64bits(out.Numbers[i]) {
			t.Fatalf("%v became %v", x, out.Numbers[i])
		}
	}
	if math.Float64bits(*out.Fill) != math.Float64bits(fill) {
		t.Error("−0 lost its sign")
	}
}

func TestRefusals(t *testing.T) {
	c := codec()
	for _, v := range []any{map[string]int{}, struct{ f int }{1}, scene{Name: "\xff"}, struct{ S fmt.Stringer }{
		reflect.ValueOf(1)}, func() {}} {
		if text, err := c.Marshal(v); err == nil {
			t.Errorf("%T was written as %s", v, text)
		}
	}
	for _, text := range []string{`{"Nam":"x"}`, `{"Main":{"type":"typedjson.circle","value":{}}}`, `{"Numbers":["1"]}`,
		`{"Numbers":[nul]}`, `{"Name":1}`, `{} {}`, `{"Main":{"type":"typedjson.square","value":{},"more":1}}`, ``,
		`{"Numbers":[1e999]}`, `{"Kind":0.5}`,
		`{"Pair":[1]}`, `{"Pair":[1,2,3]}`, `{"Pair":null}`} {
		var s scene
		if err := c.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s was read as %+v", text, s)
		}
	}
	// A known type in an interface that it does not fit.
	var s struct{ S fmt.Stringer }
	if err := c.Unmarshal([]byte(`{"S":{"type":"typedjson.square","value":{}}}`), &s); err == nil {
		t.Error("a square is a Stringer")
	}
}

func TestOmit(t *testing.T) {
	text, err := codec().Omit("Side").Marshal(scene{Main: square{2}})
	if err != nil || strings.Contains(string(text), "Side") || !strings.Contains(string(text), "typedjson.square") {
		t.Errorf("%s, %v", text, err)
	}
}

type measures struct{ Low, High float64 }

// What is embedded with the tag ",inline" is written as if its fields were those of what embeds it, and read so.
func TestInline(t *testing.T) {
	type flat struct {
		Name      string
		Low, High float64
		Count     int
	}
	type embedding struct {
		Name     string
		measures `json:",inline"`
		Count    int
	}
	text := must.Get(codec().Marshal(embedding{"x", measures{High: 2}, 3}))
	plain, err := codec().Marshal(flat{"x", 0, 2, 3})
	if err != nil || string(text) != string(plain) {
		t.Errorf("%s, want %s (%v)", text, plain, err)
	}
	var out embedding
	if err := codec().Unmarshal(text, &out); err != nil || out != (embedding{"x", measures{High: 2}, 3}) {
		t.Errorf("%+v, %v", out, err)
	}
}
