package notebook

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// with returns a notebook of one code cell that wrote text.
func with(t *testing.T, metadata, text string) *Notebook {
	t.Helper()
	return withOutputs(t, metadata, fmt.Sprintf(`{"output_type":"stream","name":"stdout","text":%s}`, quoted(t, text)))
}

func withOutputs(t *testing.T, metadata, outputs string) *Notebook {
	t.Helper()
	return must.Get(Parse(fmt.Appendf(nil, `{"nbformat":4,"metadata":{},"cells":[
		{"cell_type":"code","metadata":{%s},"source":"","execution_count":1,"outputs":[%s]}]}`, metadata, outputs)))
}

func quoted(t *testing.T, s string) []byte {
	t.Helper()
	return must.Get(json.Marshal(s))
}

func TestCompareText(t *testing.T) {
	for _, c := range []struct {
		name, metadata, a, b string
		same                 bool
	}{
		{"equal", "", "x 1\n", "x 1\n", true},
		{"word", "", "spent", "refused", false},
		{"sign", "", "loss -1.5", "loss 1.5", false},
		{"within the tolerance", "", "acc 0.8412345", "acc 0.8412346", true},
		{"outside it", "", "acc 0.84123", "acc 0.84124", false},
		{"exponent", "", "delta 1e-5", "delta 1e-6", false},
		{"tiny", "", "delta 1e-300", "delta 2e-300", false},
		{"zero", "", "delta 0", "delta 1e-12", false},
		{"loosened", `"dpnb":{"tolerance":0.05}`, "acc 0.84", "acc 0.86", true},
		{"loosened, too far", `"dpnb":{"tolerance":0.05}`, "acc 0.84", "acc 0.94", false},
		{"loosened to nothing", `"dpnb":{"tolerance":0}`, "acc 0.8412345", "acc 0.8412346", false},
		{"absolute", `"dpnb":{"absolute":1e-9}`, "error 0", "error 3e-10", true},
		{"skip", `"dpnb":{"compare":"skip"}`, "a", "b", true},
		{"presence", `"dpnb":{"compare":"presence"}`, "a", "b", true},
		{"one number more", "", "1 2", "1 2 3", false},
		{"line more", "", "a\nb\n", "a\nb\nc\n", false},
		{"durations", "", "fit in 1.52s (3ms a step), 12 s in all", "fit in 340µs (1m2.5s a step), 9.5 s in all", true},
		{"a count is no duration", "", "12 seeds", "13 seeds", false},
		{"a number with a unit", "", "sigma 4.2 steps", "sigma 4.3 steps", false},
		{"dates", "", "run 2026-01-02T03:04:05Z", "run 2027-11-12 13:14:15.5 +0100", true},
		{"paths", "", "read /home/a/data/adult.csv\n", "read /tmp/x-1/adult.csv\n", true},
		{"a fraction is no path", "", "1/2 and 3/4", "1/2 and 3/5", false},
		{"kernel folder", "", "gonb_0a1b2c3d: x", "gonb_ffff0000: x", true},
		{"column width", "", "name    value\n", "name   value\n", true},
		{"places in cells", "", "at [[ Cell [3] Line 2 ]] /tmp/x/main.go:9", "at /tmp/x/main.go:9", true},
		{"colours", "", "\x1b[31mred\x1b[0m", "red", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := must.Get(Compare(with(t, c.metadata, c.a), with(t, c.metadata, c.b)))
			if same := found == nil; same != c.same {
				t.Errorf("same: %v; %+v", same, found)
			}
		})
	}
}

func TestCompareShowsWhatDiffers(t *testing.T) {
	found, err := Compare(with(t, "", "head\na 1\nb 2\nc 3\n"), with(t, "", "head\na 1\nb 5\nc 3\nmore\n"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if want := (Difference{Cell: 1, Text: "- b 2\n+ b 5\n+ more\n"}); found[0] != want {
		t.Errorf("got %+v", found[0])
	}
}

func TestCompareKinds(t *testing.T) {
	stdout := `{"output_type":"stream","name":"stdout","text":"a"}`
	stderr := `{"output_type":"stream","name":"stderr","text":"bad thing"}`
	picture := `{"output_type":"display_data","metadata":{},"data":{"image/png":"AAAA"}}`
	other := `{"output_type":"display_data","metadata":{},"data":{"image/png":"BBBB"}}`
	for _, c := range []struct {
		name, a, b, want string
	}{
		{"pictures only have to be there", picture, other, ""},
		{"a picture is missing", picture, "", "image/png"},
		{"order of stream and display is chance", stdout + "," + picture, picture + "," + stdout, ""},
		{"something new on standard error", stdout, stdout + "," + stderr, "stderr: bad thing"},
		{"nothing at all", stdout, "", "none"},
	} {
		found := must.Get(Compare(withOutputs(t, "", c.a), withOutputs(t, "", c.b)))
		switch {
		case c.want == "" && found != nil:
			t.Errorf("%s: %+v", c.name, found)
		case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].Text, c.want)):
			t.Errorf("%s: %+v, want %q", c.name, found, c.want)
		}
	}
}

func TestCompareSettingsOfTheNotebook(t *testing.T) {
	a, b := with(t, "", "acc 0.84"), with(t, "", "acc 0.86")
	a.Metadata()["dpnb"] = map[string]any{"tolerance": 0.05}
	if found, err := Compare(a, b); err != nil || found != nil {
		t.Errorf("%+v, %v", found, err)
	}
	// What a cell says is of that cell alone.
	a.Cells = append(with(t, `"dpnb":{"tolerance":0.5}`, "acc 0.84").Cells, with(t, "", "acc 0.84").Cells...)
	b.Cells = append(with(t, "", "acc 0.92").Cells, with(t, "", "acc 0.92").Cells...)
	if found, err := Compare(a, b); err != nil || len(found) != 1 || found[0].Cell != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := Compare(with(t, `"dpnb":{"compare":"sometimes"}`, "a"), with(t, "", "a")); err == nil ||
		!strings.Contains(err.Error(), "sometimes") {
		t.Errorf("unknown setting: %v", err)
	}
	if _, err := Compare(with(t, `"dpnb":"skip"`, "a"), with(t, "", "a")); err == nil ||
		!strings.Contains(err.Error(), "cell 1") {
		t.Errorf("not an object: %v", err)
	}
}

// An alignment has every line of both once, in order, and as many of both as any could have.
func TestAlignmentIsTheLongest(t *testing.T) {
	same := func(x, y string) bool { return x == y }
	var longest func(a, b []string) int // by trying all
	longest = func(a, b []string) int {
		switch {
		case len(a) == 0 || len(b) == 0:
			return 0
		case a[0] == b[0]:
			return 1 + longest(a[1:], b[1:])
		}
		return max(longest(a[1:], b), longest(a, b[1:]))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		lines := func() (l []string) {
			for range r.IntN(6) {
				l = append(l, string(rune('x'+r.IntN(3))))
			}
			return l
		}
		a, b := lines(), lines()
		var ofA, ofB []string
		steps := align(a, b, same)
		for _, s := range steps {
			if s.a >= 0 {
				ofA = append(ofA, a[s.a])
			}
			if s.b >= 0 {
				ofB = append(ofB, b[s.b])
			}
			if s.a >= 0 && s.b >= 0 && a[s.a] != b[s.b] {
				t.Errorf("%q and %q: %v", a, b, steps)
			}
		}
		if !slices.Equal(ofA, a) || !slices.Equal(ofB, b) || len(a)+len(b)-len(steps) != longest(a, b) {
			t.Errorf("%q and %q: %v", a, b, steps)
		}
	}
}
