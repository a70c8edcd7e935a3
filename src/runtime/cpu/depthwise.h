// Convolutions in small groups, above all those in which every channel is one, with neighbouring channels in the lanes of vectors.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/cpu_library.h"

namespace anyshape::runtime {

// Whether the routines here are for that: else tiles of pixels and columns are.
bool has_small_groups(const ConvolutionCall& call);

// Results, and gradients of the input. 0, or context->failure says what went wrong.
int32_t run_depthwise(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after);

void run_depthwise_kernel_gradient(const ConvolutionKernels& kernels, Pool& pool, const ConvolutionCall& call);

}  // namespace anyshape::runtime
