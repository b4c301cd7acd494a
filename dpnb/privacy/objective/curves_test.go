package objective

import "github.com/dpnb/notebooks/dpnb/loss"

// The curves of the losses, which state them.

func curveOf(l loss.Loss, radius float64) (Curve, error) {
	c, err := loss.CurveOf(l, radius)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func Logistic(radius float64) (Curve, error) { return curveOf(loss.Logistic{}, radius) }

func Softplus(width, radius float64) (Curve, error) {
	return curveOf(loss.Softplus{Width: width}, radius)
}

func Huber(threshold, radius float64) (Curve, error) {
	return curveOf(loss.Huber{Threshold: threshold}, radius)
}

func PseudoHuber(threshold, radius float64) (Curve, error) {
	return curveOf(loss.PseudoHuber{Threshold: threshold}, radius)
}

func ClippedSquaredHinge(clip, radius float64) (Curve, error) {
	return curveOf(loss.Clipped(loss.SquaredHinge{}, clip/radius), radius)
}

func ClippedProbit(clip, radius float64) (Curve, error) {
	return curveOf(loss.Clipped(loss.Probit{}, clip/radius), radius)
}

func ClippedPoisson(most, clip, radius float64) (Curve, error) {
	return curveOf(loss.Clipped(loss.Poisson{MaxCount: most}, clip/radius), radius)
}

func Clipped(c Curve, clip float64) (Curve, error) { return c.(*loss.Curve).Clip(clip), nil }
