package calculator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Parse reads a JSON list of events, for example
//
//	[{"type":"gaussian","sigma":5,"sensitivity":1,"count":10},
//	 {"type":"subsampled-gaussian","sigma":1,"rate":0.01,"count":100}]
//
// count is 1 where it is left out. Nothing is guessed: a repeated, misspelt or missing field, a count that is no
// integer, anything after the list is an error.
func (c Calculator) Parse(data []byte) ([]Line, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := expect(d, json.Delim('[')); err != nil {
		return nil, err
	}
	var lines []Line
	for d.More() {
		l, err := parseLine(d)
		if err == nil {
			l, err = c.check(l)
		}
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", len(lines)+1, err)
		}
		lines = append(lines, l)
	}
	if err := expect(d, json.Delim(']')); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &privacy.ParamError{Name: "events", Value: "more text after the list",
			Want: "one JSON list of events"}
	}
	if len(lines) == 0 {
		return nil, &privacy.ParamError{Name: "events", Value: "an empty list", Want: "at least one event"}
	}
	return lines, nil
}

func expect(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("events: not a JSON list of events: %w", err)
	}
	return privacy.Within(t == want, "events", t, "a JSON list of events, [{\"type\":…}, …]")
}

// parseLine reads one object.
func parseLine(d *json.Decoder) (Line, error) {
	l := Line{Count: 1, Values: Values{Numbers: map[string]float64{}, Texts: map[string]string{}}}
	if err := expect(d, json.Delim('{')); err != nil {
		return l, err
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return l, fmt.Errorf("events: %w", err)
		}
		name, _ := key.(string)
		if seen[name] {
			return l, &privacy.ParamError{Name: name, Value: "given twice", Want: "one value"}
		}
		seen[name] = true
		value, err := d.Token()
		if err != nil {
			return l, fmt.Errorf("events: %w", err)
		}
		if err := l.set(name, value); err != nil {
			return l, err
		}
	}
	if err := cmp.Or(expect(d, json.Delim('}')),
		privacy.Within(l.Type != "", "type", "missing", "the type of the event")); err != nil {
		return l, err
	}
	return l, nil
}

// set stores one field.
func (l *Line) set(name string, value json.Token) error {
	switch v := value.(type) {
	case string:
		if name == "type" {
			l.Type = v
			return nil
		}
		l.Values.Texts[name] = v
		return nil
	case json.Number:
		if name == "count" {
			n, err := strconv.ParseInt(v.String(), 10, 64)
			if err != nil || n < 1 || n > maxCount {
				return &privacy.ParamError{Name: "count", Value: v, Want: "an integer from 1 to 2⁵²"}
			}
			l.Count = int(n)
			return nil
		}
		x, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			return &privacy.ParamError{Name: name, Value: v, Want: "a number within the range of a float64"}
		}
		l.Values.Numbers[name] = x
		return nil
	}
	return &privacy.ParamError{Name: name, Value: value, Want: "a number or a word"}
}
