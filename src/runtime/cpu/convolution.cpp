// Which routine a convolution is for.
#include "runtime/cpu/convolution.h"

#include "runtime/cpu/depthwise.h"
#include "runtime/cpu/externs.h"
#include "runtime/cpu/kernel_gradient.h"
#include "runtime/cpu/pixel_product.h"

namespace anyshape::runtime {
namespace {

int64_t result_elements(const ConvolutionCall& call) {
  const ConvolutionSizes<int64_t>& sizes = call.sizes;
  int64_t input = sizes.images * sizes.channels, output = sizes.images * sizes.filters,
          kernel = sizes.channels / sizes.groups * sizes.filters;
  for (const auto& axis : sizes.axes) {
    input *= axis.input;
    output *= axis.output;
    kernel *= axis.taps;
  }
  switch (call.wanted) {
    case ConvolutionWork::Wanted::Result: return output;
    case ConvolutionWork::Wanted::InputGradient: return input;
    case ConvolutionWork::Wanted::KernelGradient: return kernel;
  }
  return 0;
}

}  // namespace

int32_t convolve_with(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& asked, const BlockRun* after) {
  if (asked.sizes.groups == 0 || result_elements(asked) == 0) return 0;
  ConvolutionCall call = asked;
  if (call.first == nullptr) call.first = zero_pixel;  // of no elements: nothing is read, but addresses are computed
  if (call.second == nullptr) call.second = zero_pixel;
  if (call.wanted != ConvolutionWork::Wanted::KernelGradient)
    return has_small_groups(call) ? run_depthwise(kernels, context, call, after) : run_pixel_product(kernels, context, call, after);
  Pool& pool = *static_cast<Pool*>(context->pool);
  has_small_groups(call) ? run_depthwise_kernel_gradient(kernels, pool, call) : run_kernel_gradient(kernels, pool, call);
  return 0;
}

int32_t convolve(AsContext* context, const ConvolutionCall& call, const BlockRun* after) {
  const ConvolutionKernels* const kernels = convolution_sets().best();
  return kernels == nullptr ? fail_routine(context) : convolve_with(*kernels, context, call, after);
}

}  // namespace anyshape::runtime
