package mathml_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/report/mathml"
)

func ExampleConvert() {
	for _, tex := range []string{`\alpha`, `\spam`} {
		fmt.Println(mathml.Convert(tex, false))
	}
	// Output:
	// <math><semantics><mi>α</mi><annotation encoding="application/x-tex">\alpha</annotation></semantics></math> <nil>
	//  formula "\\spam": \spam is not known
}
