package learn

import (
	"fmt"
	"testing"
)

// What differs between two specifications is said of the field alone, and an order that differs is not overlooked.
func TestDifferencesNameTheField(t *testing.T) {
	const age, city = `{"Name":"age","Upper":70}`, `{"Kind":1,"Name":"city"}`
	for _, c := range []struct{ now, was, want string }{
		{`{"F":[{"Name":"age","Upper":80},` + city + `]}`, `{"F":[` + age + `,` + city + `]}`,
			"[F.age.Upper is 80 and was 70]"},
		{`{"F":[` + age + `]}`, `{"F":[` + age + `,` + city + `]}`, `[F.city is not set and was ` + city + `]`},
		{`{"F":[` + city + `,` + age + `]}`, `{"F":[` + age + `,` + city + `]}`,
			"[F is [" + city + "," + age + "] and was [" + age + "," + city + "]]"},
		{`{"F":[` + age + `,` + age + `]}`, `{"F":[` + age + `]}`,
			"[F is [" + age + "," + age + "] and was [" + age + "]]"},
		{`{"F":[` + age + `]}`, `{"F":[` + age + `]}`, "[]"},
	} {
		if said := fmt.Sprint(differences("", tree([]byte(c.now)), tree([]byte(c.was)))); said != c.want {
			t.Errorf("%s after %s: %s", c.now, c.was, said)
		}
	}
}
