// Package smoothing replaces convex functions with kinks by smooth ones near them: by convolution with a kernel, as cop
// does, or by their Moreau envelope.
//
// A loss with a kink has no curvature bound, and objective perturbation needs one: the ridge that its privacy asks for
// is proportional to the curvature. A smoothed loss has curvature at most Kernel.Peak() × jump of the slope / width,
// and is farther from the loss the wider the kernel. Which kernel is nearest at a given curvature, and which at a given
// cost in privacy, are different questions: docs/theory/smoothing.md.
package smoothing
