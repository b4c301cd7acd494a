package kernel

import "testing"

// TestWithoutAssembly runs what other processors run.
func TestWithoutAssembly(t *testing.T) {
	if !fast {
		t.Skip("this processor has no AVX2: the other tests run it already")
	}
	fast = false
	defer func() { fast = true }()
	t.Run("kernels", TestKernelsAgreeWithTheirDefinition)
	t.Run("gram", TestAddGram)
	t.Run("widen", TestWiden)
	t.Run("wide", TestWideKernels)
	t.Run("exp", TestExpNegAbs)
	t.Run("logistic", TestLogistic)
	t.Run("rounded", TestAddRounded)
}
