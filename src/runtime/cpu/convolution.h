// Convolutions in f32 for any size, on the pool: nothing is planned or compiled per size.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/cpu_library.h"

namespace anyshape::runtime {

// With one of the sets that the processor has (convolution_sets()): all give the same bits. 0, or context->failure says what went wrong.
int32_t convolve_with(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after);

}  // namespace anyshape::runtime
