// Which instruction sets this processor has.
#include "runtime/cpu/convolution_kernels.h"

namespace anyshape::runtime {

#if defined(__x86_64__)
extern const ConvolutionKernels avx2_convolution_kernels, avx512_convolution_kernels;

const ConvolutionSets& convolution_sets() {
  static const ConvolutionSets sets = [] {
    const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                            __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0;
    return ConvolutionSets{has_avx512 ? &avx512_convolution_kernels : nullptr, has_avx2 ? &avx2_convolution_kernels : nullptr};
  }();
  return sets;
}
#else
const ConvolutionSets& convolution_sets() {
  static const ConvolutionSets none;
  return none;
}
#endif

}  // namespace anyshape::runtime
