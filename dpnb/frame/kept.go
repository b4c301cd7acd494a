package frame

import "slices"

// Kept is all that an Encoding is made of, so that it can be written down and made again. It is public, as the encoding
// is.
type Kept struct {
	Settings DesignSettings
	// Fields of the features, in their order, and of the label.
	Fields []Field
	Label  Field
	// Inferred names the fields that were read off the data; DataDependent says that of the whole.
	Inferred      []string
	DataDependent bool
}

// Kept returns what e is made of.
func (e *Encoding) Kept() Kept {
	k := Kept{Settings: e.settings, Label: e.label, Fields: slices.Clone(e.fields), DataDependent: e.DataDependent}
	for _, f := range append(slices.Clone(e.fields), e.label) {
		if f.inferred {
			k.Inferred = append(k.Inferred, f.Name)
		}
	}
	return k
}

// Encoding makes the encoding again.
//
// Errors: *InputError for fields or settings that no encoding was made of.
func (k Kept) Encoding() (*Encoding, error) {
	schema := &Schema{Fields: append(slices.Clone(k.Fields), k.Label), DataDependent: k.DataDependent}
	var columns []string
	for i := range schema.Fields {
		f := &schema.Fields[i]
		f.inferred = slices.Contains(k.Inferred, f.Name)
		columns = append(columns, f.Name)
	}
	if w := k.Settings.Weights; w != "" {
		columns = append(columns, w)
	}
	return newEncoding(columns, schema, k.Settings)
}
