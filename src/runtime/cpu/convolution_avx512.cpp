// What convolutions do in registers, with AVX-512. Nothing here is called where the processor lacks it.
#if defined(__x86_64__)
#include "runtime/cpu/convolution_panel.h"
#include "runtime/cpu/convolution_tile.h"
#include "runtime/cpu/depthwise_gradient_tile.h"
#include "runtime/cpu/narrow_tile.h"
#include "runtime/cpu/vector_avx512.h"

namespace anyshape::runtime {

extern const ConvolutionKernels avx512_convolution_kernels;
constexpr ConvolutionKernels avx512_convolution_kernels{.lanes = Avx512::lanes,
                                                        .tile_columns = int64_t{Avx512::lanes} * tile_vectors<Avx512>,
                                                        .pixel_tile = pixel_tile<Avx512>,
                                                        .narrow_tile = narrow_tile<Avx512>,
                                                        .gradient_tile = gradient_tile<Avx512>,
                                                        .copy_panels = copy_panels<Avx512>,
                                                        .depthwise_run = depthwise_run<Avx512>,
                                                        .depthwise_gradient = depthwise_gradient<Avx512>};

}  // namespace anyshape::runtime
#endif
