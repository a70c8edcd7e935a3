// Convolutions and gradients of their input as products of pixels with weights, in tiles of registers that read pixels through tables of pointers.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/cpu_library.h"

namespace anyshape::runtime {

// Results of a convolution, or a gradient of the input: any sizes. 0, or context->failure says what went wrong.
int32_t run_pixel_product(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after);

}  // namespace anyshape::runtime
