// Gradients of a convolution's kernel: partial sums over slices of the pixels, added in order.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/cpu_library.h"

namespace anyshape::runtime {

// Any sizes.
void run_kernel_gradient(const ConvolutionKernels& kernels, Pool& pool, const ConvolutionCall& call);

// Where the partial sums of a slice are, and the pixels [first, end) that it has.
struct GradientSlice {
  float* sums;
  int64_t first, end;
};
GradientSlice gradient_slice(const ConvolutionCall& call, int64_t slice);

// The result is the sum of all slices.
void add_slices(Pool& pool, const ConvolutionCall& call);

}  // namespace anyshape::runtime
