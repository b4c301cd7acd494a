package claim_test

import (
	"context"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/claim"
)

func ExampleRun() {
	c := claim.Claim{ID: "dpnb/two", Statement: "1 + 1 = 2", Run: func(context.Context, claim.Size) (claim.Outcome,
		error) {
		return claim.Outcome{Measured: fmt.Sprint(1 + 1), Verdict: claim.Holds}, nil
	}}
	results, err := claim.Run(context.Background(), []claim.Claim{c}, claim.Quick, nil)
	fmt.Println(results[0].ID, results[0].Measured, results[0].Verdict, err)
	// Output: dpnb/two 2 holds <nil>
}
