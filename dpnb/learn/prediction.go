package learn

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
)

// Predict returns for every record: of two classes the probability of the positive one; for several the index in the
// schema of the predicted one, from 0 (PredictClass has its name); for a number the prediction in its own unit; for a
// count its mean. Numbers and counts are moved into their public bounds, as the targets were. For several quantiles use
// PredictQuantiles or PredictFrame.
//
// The model encodes the records as it did in the fit, whatever schema and options they come with: Columns are found by
// name, in any order, other columns are ignored, and no label is needed.
//
// Errors: the records' own, a column that is not there, or no model; records of PerPerson, which has left rows out.
func (m *Model) Predict(records Records) ([]float64, error) {
	t, err := m.marginsOf(records)
	if err != nil {
		return nil, err
	}
	if m.target.Task == frame.ManyClasses {
		p := make([]float64, 0, len(t)/len(m.target.Classes))
		for _, k := range m.decide(t) {
			p = append(p, float64(k))
		}
		return p, nil
	}
	if len(m.levels) > 1 {
		return nil, fmt.Errorf("dpnb: the model predicts %d quantiles of each record: PredictQuantiles has them level "+
			"by level, "+
			"PredictFrame as columns", len(m.levels))
	}
	return m.predictions(t), nil
}

// PredictQuantiles returns the predicted quantiles, a slice for each level, rising, with one for each record: that of
// record i at level k is in [k][i]. They are in the target's own unit and moved into its bounds, and do not cross:
// where the fitted ones do, neighbours are replaced by their mean until none cross, which for no target increases the
// sum of their pinball losses.
//
// Errors: as Predict; a model of no quantiles.
func (m *Model) PredictQuantiles(records Records) ([][]float64, error) {
	if err := m.Err(); err == nil && m.levels == nil {
		return nil, fmt.Errorf("dpnb: a %s predicts no quantiles: use Predict", m.title)
	}
	t, err := m.marginsOf(records)
	if err != nil {
		return nil, err
	}
	return m.columns(m.predictions(t)), nil
}

// columns cuts what is predicted level by level.
func (m *Model) columns(t []float64) [][]float64 {
	n := len(t) / len(m.levels)
	out := make([][]float64, len(m.levels))
	for k := range out {
		out[k] = t[k*n : (k+1)*n]
	}
	return out
}

// made returns the records as the model makes them, if labelled with their labels.
func (m *Model) made(records Records, labelled bool) (*frame.Design, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if records == nil {
		return nil, errors.New("dpnb: no records to predict for")
	}
	return records.made(m.encoding, labelled)
}

// everyRow refuses records from which PerPerson has left rows out: a prediction is for each row.
func everyRow(records Records) error {
	person, rows, _ := records.whose()
	if rows == 0 {
		return nil
	}
	return fmt.Errorf("dpnb: a prediction is for each row, and PerPerson(%q, %d) has left out the further rows of a "+
		"person: predict for the table without PerPerson", person, rows)
}

func (m *Model) marginsOf(records Records) ([]float64, error) {
	d, err := m.made(records, false)
	if err == nil {
		err = everyRow(records)
	}
	if err != nil {
		return nil, err
	}
	return m.margins(d.Rows), nil
}

// margins returns xᵀθ for every row, those of several classes class by class.
func (m *Model) margins(rows matrix.Rows) []float64 {
	rows, theta := placed(rows, m.linear(), m.also())
	n, d := rows.Dims()
	t := make([]float64, n*(len(theta)/d))
	for c := range len(theta) / d {
		for lo := 0; lo < n; lo += matrix.MaxBlock {
			hi := min(n, lo+matrix.MaxBlock)
			rows.Margins(t[c*n+lo:c*n+hi], theta[c*d:(c+1)*d], lo, hi)
		}
	}
	return t
}

// predictions overwrites t = xᵀθ with what is predicted there.
func (m *Model) predictions(t []float64) []float64 {
	if k := len(m.levels); k > 1 {
		n, one := len(t)/k, make([]float64, k)
		for i := range n {
			for l := range one {
				one[l] = t[l*n+i]
			}
			sgd.Pool(one)
			for l, v := range one {
				t[l*n+i] = v
			}
		}
	}
	for i, v := range t {
		switch {
		case m.probabilities:
			t[i] = m.probability(v)
		case m.target.Task == frame.Number:
			t[i] = m.target.Value(v)
		case m.target.Task == frame.Count:
			t[i] = math.Max(m.target.Lower, math.Min(m.target.Upper, math.Exp(v)))
		}
	}
	return t
}

// decide returns the place of the class that is predicted for every record: of two the second where xᵀθ > 0, or where
// its calibrated probability is more than a half; of several that of the largest, the first if there are more than one.
func (m *Model) decide(t []float64) []int {
	n := len(t) / (len(m.coefficients) / len(m.features))
	at := make([]int, n)
	for i := range at {
		if at[i] = largest(t[i:], n, len(t)/n); m.target.Task == frame.TwoClasses && m.positive(t[i]) {
			at[i] = 1
		}
	}
	return at
}

// largest returns the k of the largest of t[0], t[stride], …, the first if there are more than one.
func largest(t []float64, stride, parts int) (best int) {
	for k := range parts {
		if t[k*stride] > t[best*stride] {
			best = k
		}
	}
	return best
}

// PredictClass returns the name of the class that is predicted for every record.
//
// Errors: as Predict, or a model of no classes.
func (m *Model) PredictClass(records Records) ([]string, error) {
	t, err := m.marginsOf(records)
	if err != nil {
		return nil, err
	}
	if len(m.target.Classes) == 0 {
		return nil, fmt.Errorf("dpnb: the model predicts %v, not classes: use Predict", m.target.Task)
	}
	return m.classNames(t), nil
}

func (m *Model) classNames(t []float64) []string {
	at := m.decide(t)
	names := make([]string, len(at))
	for i, k := range at {
		names[i] = m.target.Classes[k]
	}
	return names
}

// PredictFrame is Predict as a dataframe with a row for every record: a column prediction with the class, the number or
// the mean of the count; for two classes another with the probability of the positive one, or with xᵀθ from SVM; for
// several classes one with the probability of each; for several quantiles a column for each, called 0.1 and so on. No
// label is needed. It is about individual records. The dataframe carries its error, if there is one, as is usual with
// gota.
//
// Errors: as Predict.
func (m *Model) PredictFrame(records Records) dataframe.DataFrame {
	t, err := m.marginsOf(records)
	if err != nil {
		return dataframe.DataFrame{Err: err}
	}
	table, err := frame.NewTable(m.predicted(t)...)
	if err != nil {
		return dataframe.DataFrame{Err: err}
	}
	return table.DataFrame(nil)
}

// predicted returns what is predicted at t = xᵀθ, which it overwrites, as columns.
func (m *Model) predicted(t []float64) []frame.Column {
	const prediction = "prediction"
	if len(m.levels) > 1 {
		var columns []frame.Column
		for k, q := range m.columns(m.predictions(t)) {
			columns = append(columns, frame.Column{Name: levelNames(m.levels)[k], Numbers: q})
		}
		return columns
	}
	classes := m.target.Classes
	if len(classes) == 0 {
		return []frame.Column{{Name: prediction, Numbers: m.predictions(t)}}
	}
	columns := []frame.Column{{Name: prediction, Kind: frame.Categorical, Texts: m.classNames(t)}}
	if m.target.Task == frame.TwoClasses {
		name := "score of " + classes[1]
		if m.probabilities {
			name = "probability of " + classes[1]
		}
		return append(columns, frame.Column{Name: name, Numbers: m.predictions(t)})
	}
	m.shares(t)
	for k, name := range classes {
		n := len(t) / len(classes)
		columns = append(columns, frame.Column{Name: "probability of " + name, Numbers: t[k*n : (k+1)*n]})
	}
	return columns
}

// shares overwrites t = xᵀθ of several classes, class by class, with their probabilities,
//
//	e^{t_k}/Σ_l e^{t_l},  or σ(t_k)/Σ_l σ(t_l) where they were fitted apart, σ(t) = 1/(1 + e^{−t}).
func (m *Model) shares(t []float64) {
	k := len(m.target.Classes)
	n, one := len(t)/k, make([]float64, k)
	for i := range n {
		top := math.Inf(-1)
		for c := range one {
			one[c] = t[c*n+i]
			if m.apart {
				one[c] = logLogistic(one[c])
			}
			top = math.Max(top, one[c])
		}
		var sum float64
		for c, v := range one {
			one[c] = math.Exp(v - top)
			sum += one[c]
		}
		for c, v := range one {
			t[c*n+i] = v / sum
		}
	}
}

// PredictCSV writes PredictFrame to a file, chunk by chunk, so that tables may be larger than memory: a row for every
// record in the table's order, after the columns of the table named in keep, by which records can be found again. What
// it writes is about individual records. The file is written in full or not at all.
//
// Errors: as Predict; a column that is not there; a file that cannot be written.
func (m *Model) PredictCSV(path string, df DataFrame, keep ...string) error {
	_, err := m.predictCSV(path, df, keep, false, true)
	return err
}

// PredictCSVAndCheck is PredictCSV, and returns which entries it could not read: numbers and dates that are none, as
// where a mark of thousands was not stated, and texts that are no category. They count as missing, or as no category.
// That is about individual records as the predictions are, which it stands beside, and no release: a fit keeps silent
// about such entries because others see what it says, and here whoever asks has the records. It writes over another
// file only if replace says so, and else over none but what it would write again.
//
// Errors: as PredictCSV; os.ErrExist.
func (m *Model) PredictCSVAndCheck(path string, df DataFrame, replace bool, keep ...string) ([]frame.Misfit, error) {
	return m.predictCSV(path, df, keep, true, replace)
}

func (m *Model) predictCSV(path string, df DataFrame, keep []string, check, replace bool) (unread []frame.Misfit,
	err error) {
	if err := cmp.Or(m.Err(), df.Err()); err != nil {
		return nil, err
	}
	if err := everyRow(df); err != nil {
		return nil, err
	}
	table, err := m.encoding.Prepared(df.records)
	if err != nil {
		return nil, err
	}
	wanted, lacking := slices.Clone(keep), []string(nil)
	for _, name := range m.Columns() {
		if !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(table.Names(), name) {
			lacking = append(lacking, strconv.Quote(name))
		}
	}
	if lacking != nil {
		return nil, fmt.Errorf("dpnb: %s lacks %s, which the model predicts by or which is to be kept: its columns "+
			"are %s", table.Origin().Name, strings.Join(lacking, ", "), wording.Names(table.Names()))
	}
	// What a killed run left of it is about single records.
	if err := atomicfile.ErasePartsOf(path); err != nil {
		return nil, err
	}
	var found [][]frame.Misfit
	before := 0
	each := func(chunk *frame.Table) (err error) {
		if check {
			found, err = m.encoding.Unread(found, chunk, before)
			before += chunk.Rows()
		}
		return err
	}
	write := func(w io.Writer) error { return m.predictTo(w, table, keep, wanted, each) }
	if old, e := os.Open(path); replace || errors.Is(e, os.ErrNotExist) {
		err = atomicfile.Stream(path, write)
	} else if err = e; err == nil {
		there := &same{old: bufio.NewReader(old)}
		err = write(there)
		if _, end := there.old.ReadByte(); err == nil && end != io.EOF { // a longer one
			err = os.ErrExist
		}
		err = errors.Join(err, old.Close())
	}
	return slices.Concat(found...), err
}

// same is written what a file has, and refuses anything else.
type same struct {
	old *bufio.Reader
	was []byte
}

func (s *same) Write(p []byte) (int, error) {
	s.was = slices.Grow(s.was[:0], len(p))[:len(p)]
	if _, err := io.ReadFull(s.old, s.was); err != nil || !bytes.Equal(s.was, p) {
		return 0, os.ErrExist
	}
	return len(p), nil
}

func (m *Model) predictTo(w io.Writer, table frame.Scanner, keep, wanted []string,
	each func(*frame.Table) error) error {
	out, first := csv.NewWriter(w), true
	err := table.Scan(wanted, func(chunk *frame.Table) error {
		rows, err := m.encoding.Rows(chunk)
		if err == nil {
			err = each(chunk)
		}
		if err != nil {
			return err
		}
		columns := m.predicted(m.margins(rows))
		record := slices.Clone(keep)
		if first {
			for _, c := range columns {
				record = append(record, c.Name)
			}
			if err := out.Write(record); err != nil {
				return err
			}
			first = false
		}
		for i := range chunk.Rows() {
			record = record[:0]
			for _, name := range keep {
				c, err := chunk.Column(name)
				if err != nil {
					return err
				}
				record = append(record, c.Text(i))
			}
			for _, c := range columns {
				if c.Kind == frame.Categorical {
					record = append(record, c.Texts[i])
				} else {
					record = append(record, strconv.FormatFloat(c.Numbers[i], 'g', -1, 64))
				}
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
	out.Flush()
	return cmp.Or(err, out.Error())
}
