package frame

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// recordsOfSteps is the checksum of what StepsOfCode makes of the table below.
const recordsOfSteps = "dpnb records 6 159ee5fb652bcfd2"

// Records that were stored by another version of the code are taken as they are, unless StepsOfCode differs: whatever
// becomes of a table of every kind of field and of awkward values has to be what it was, or StepsOfCode and this
// checksum change together.
func TestStepsOfCode(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round products and sums at once")
	}
	text := "age;pay;born;seen;city;code;job;happy\n41,5;1.234,5;03.04.1981;2020-01-31;Bern;1;Nan;yes\n" +
		"-9;12;31.12.1999;never;Rome;1,0; NA ;no\n1e3;x;;2020-02-29 ;Paris;;12;perhaps\n?;99.999;01.01.1890;;NA;01;-;\n"
	table := must.Get(ReadCSV(strings.NewReader(text), &CSVSettings{Comma: ';', Decimal: ',', Thousands: '.',
		Missing: []string{"?", "-9", "NA"}}))
	schema := &Schema{Fields: []Field{NumericField("age", 0, 100).OrMissingAs(7), LogField("pay", 10, 1e5),
		DateField("born", "02.01.2006", "01.01.1900", "01.01.2020"), WeekdayField("seen", "2006-01-02").OrMissing(),
		CategoricalField("city", "Bern", "Rome", "NA").OrElse("Rome"), CategoricalField("code", "1", "2").OrMissing(),
		CategoricalField("job", "name", "-").Categorised(Pattern{"(?i)^na", "name"}).OrMissing(),
		CategoricalField("happy", "no", "perhaps", "yes")}}
	sum := sha256.New()
	for _, s := range []DesignSettings{{Label: "happy", Task: ManyClasses, RowNorm: 1}, {Label: "age", Task: Number},
		{Label: "age", Task: Count, ClipNorm: 0.5}, {Label: "pay", Task: Number, NoBias: true}} {
		d := must.Get(NewDesign(table, schema, s))
		must.Do(binary.Write(sum, binary.LittleEndian, d.Rows.(*matrix.Dense).Data))
		must.Do(binary.Write(sum, binary.LittleEndian, d.Labels))
	}
	if got := fmt.Sprintf("%s %x", StepsOfCode, sum.Sum(nil)[:8]); got != recordsOfSteps {
		t.Errorf("a table is encoded as %q, and was as %q: change StepsOfCode, and this", got, recordsOfSteps)
	}
}
