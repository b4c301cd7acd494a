package rkw23

import (
	"fmt"
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// counting counts the slopes that are evaluated.
type counting struct {
	loss.Loss
	n *atomic.Int64
}

// ValueSlope implements loss.Loss.
func (c counting) ValueSlope(slope, t, y []float64) float64 {
	c.n.Add(int64(len(t)))
	return c.Loss.ValueSlope(slope, t, y)
}

// gradientCounts counts; those of SAG and SVRG are multiplied by n^extra, and DP-SGD takes n^power steps, to see the
// check fail.
func gradientCounts(run measure.Run, of [2]float64) claim.Outcome {
	extra, power := of[0], of[1]
	sizes, small := []int{500, 1000, 2000, 4000, 8000}, []int{25, 50, 100, 200}
	if run.Size == claim.Full {
		sizes, small = append(sizes, 16_000, 32_000, 64_000), append(small, 400, 800)
	}
	root := noise.NewSeeded(31)
	slopes := map[string]float64{}
	worst := 0.0 // count/(n ln n)
	for _, m := range []erm.Method{erm.SAG{Seed: 1}, erm.SVRG{Seed: 1}} {
		var x, y []float64
		for k, n := range sizes {
			measure.Try(run.Err())
			count := evaluations(m, n, root.Stream(k))
			x, y = append(x, math.Log(float64(n))), append(y, math.Log(count*math.Pow(float64(n),
				extra)/math.Log(float64(n))))
			worst = math.Max(worst, count/(float64(n)*math.Log(float64(n))))
		}
		_, slopes[m.Name()] = stat.LinearRegression(x, y, nil, false)
	}
	var x, y []float64
	for k, n := range small {
		measure.Try(run.Err())
		rows, labels := measure.UnitRecords(n, 10, root.Stream(100+k))
		var count atomic.Int64
		descent := sgd.Descent{
			Loss: counting{loss.Logistic{}, &count}, Clip: 1, Rate: 1 / float64(n),
			Steps:           int(math.Pow(float64(n), power)),
			NoiseMultiplier: float64(n), PlannedRecords: float64(n),
			Update: sgd.Plain{LearningRate: 1 / float64(n)},
		}
		measure.Must(descent.Run(rows, labels, root.Stream(200+k), nil))
		x, y = append(x, math.Log(float64(n))), append(y, math.Log(float64(count.Load())))
	}
	_, quadratic := stat.LinearRegression(x, y, nil, false)
	good := worst < 20 && quadratic > 1.95 && quadratic < 2.05
	for _, s := range slopes {
		good = good && s > 0.93 && s < 1.12
	}
	return claim.Decide(fmt.Sprintf("slopes SAG %.2f, SVRG %.2f, DP-SGD %.2f; at most %.0f·n ln n",
		slopes["SAG"], slopes["SVRG"], quadratic, worst),
		"0.93 to 1.12, 2 ± 0.05, less than 20·n ln n", good, "the counts grow otherwise")
}
