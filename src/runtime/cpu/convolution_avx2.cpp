// What convolutions do in registers, with AVX2. Nothing here is called where the processor lacks it.
#if defined(__x86_64__)
#include "runtime/cpu/convolution_panel.h"
#include "runtime/cpu/convolution_tile.h"
#include "runtime/cpu/depthwise_gradient_tile.h"
#include "runtime/cpu/narrow_tile.h"
#include "runtime/cpu/vector_avx2.h"

namespace anyshape::runtime {

extern const ConvolutionKernels avx2_convolution_kernels;
constexpr ConvolutionKernels avx2_convolution_kernels{.lanes = Avx2::lanes,
                                                      .tile_columns = int64_t{Avx2::lanes} * tile_vectors<Avx2>,
                                                      .pixel_tile = pixel_tile<Avx2>,
                                                      .narrow_tile = narrow_tile<Avx2>,
                                                      .gradient_tile = gradient_tile<Avx2>,
                                                      .copy_panels = copy_panels<Avx2>,
                                                      .depthwise_run = depthwise_run<Avx2>,
                                                      .depthwise_gradient = depthwise_gradient<Avx2>};

}  // namespace anyshape::runtime
#endif
