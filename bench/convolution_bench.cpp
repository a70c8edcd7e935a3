// GFLOP/s of convolutions: results, gradients of the input and of the kernel, for the layers of ResNet-50 and other shapes; then the time of all of
// ResNet-50's. usage: convolution_bench [threads [repeats [avx2]]]. With one thread its own processor time is measured, so that others on the machine
// count little.
#include "base/float_state.h"
#include "runtime/cpu/convolution.h"
#include "runtime/cpu/externs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

using namespace anyshape;
using namespace anyshape::runtime;
using Sizes = ConvolutionSizes<int64_t>;
using Wanted = ConvolutionWork::Wanted;

namespace {

struct Layer {
  const char* name;
  int64_t height, width, channels, filters, taps_high, taps_wide, stride = 1, groups = 1;
  int repeats = 0;  // in ResNet-50
};

constexpr Layer resnet[] = {
    {"7x7/2 3-64 @224", 224, 224, 3, 64, 7, 7, 2, 1, 1},    {"1x1 64-64 @56", 56, 56, 64, 64, 1, 1, 1, 1, 1},
    {"3x3 64-64 @56", 56, 56, 64, 64, 3, 3, 1, 1, 3},       {"1x1 64-256 @56", 56, 56, 64, 256, 1, 1, 1, 1, 4},
    {"1x1 256-64 @56", 56, 56, 256, 64, 1, 1, 1, 1, 2},     {"1x1 256-128 @56", 56, 56, 256, 128, 1, 1, 1, 1, 1},
    {"3x3/2 128-128 @56", 56, 56, 128, 128, 3, 3, 2, 1, 1}, {"1x1/2 256-512 @56", 56, 56, 256, 512, 1, 1, 2, 1, 1},
    {"3x3 128-128 @28", 28, 28, 128, 128, 3, 3, 1, 1, 3},   {"1x1 128-512 @28", 28, 28, 128, 512, 1, 1, 1, 1, 4},
    {"1x1 512-128 @28", 28, 28, 512, 128, 1, 1, 1, 1, 3},   {"1x1 512-256 @28", 28, 28, 512, 256, 1, 1, 1, 1, 1},
    {"3x3/2 256-256 @28", 28, 28, 256, 256, 3, 3, 2, 1, 1}, {"1x1/2 512-1024 @28", 28, 28, 512, 1024, 1, 1, 2, 1, 1},
    {"3x3 256-256 @14", 14, 14, 256, 256, 3, 3, 1, 1, 5},   {"1x1 256-1024 @14", 14, 14, 256, 1024, 1, 1, 1, 1, 6},
    {"1x1 1024-256 @14", 14, 14, 1024, 256, 1, 1, 1, 1, 5}, {"1x1 1024-512 @14", 14, 14, 1024, 512, 1, 1, 1, 1, 1},
    {"3x3/2 512-512 @14", 14, 14, 512, 512, 3, 3, 2, 1, 1}, {"1x1/2 1024-2048 @14", 14, 14, 1024, 2048, 1, 1, 2, 1, 1},
    {"3x3 512-512 @7", 7, 7, 512, 512, 3, 3, 1, 1, 2},      {"1x1 512-2048 @7", 7, 7, 512, 2048, 1, 1, 1, 1, 3},
    {"1x1 2048-512 @7", 7, 7, 2048, 512, 1, 1, 1, 1, 2},
};
constexpr Layer others[] = {
    {"depthwise 3x3 96 @56", 56, 56, 96, 96, 3, 3, 1, 96},
    {"depthwise 3x3/2 96 @56", 56, 56, 96, 96, 3, 3, 2, 96},
    {"depthwise 5x5 192 @28", 28, 28, 192, 192, 5, 5, 1, 192},
    {"depthwise 5x5/2 192 @28", 28, 28, 192, 192, 5, 5, 2, 192},
    {"depthwise 7x7 128 @28", 28, 28, 128, 128, 7, 7, 1, 128},
    {"depthwise 3x3 960 @7", 7, 7, 960, 960, 3, 3, 1, 960},
    {"depthwise 3x3 32-64 @56", 56, 56, 32, 64, 3, 3, 1, 32},
    {"groups of 4, 3x3 128 @56", 56, 56, 128, 128, 3, 3, 1, 32},
    {"groups of 32, 3x3 128 @28", 28, 28, 128, 128, 3, 3, 1, 4},
    {"3x3/2 3-24 @320", 320, 320, 3, 24, 3, 3, 2},
    {"3x3 3-64 @32", 32, 32, 3, 64, 3, 3},
    {"3x3 1-32 @28", 28, 28, 1, 32, 3, 3},
    {"5x5 1-6 @28", 28, 28, 1, 6, 5, 5},
    {"5x5 6-16 @14", 14, 14, 6, 16, 5, 5},
    {"1x1 96-120 @40", 40, 40, 96, 120, 1, 1},
    {"9x9 96-24 @40", 40, 40, 96, 24, 9, 9},
    {"3x3 64-3 @64", 64, 64, 64, 3, 3, 3},
    {"along 1 axis, 5 128-128 @1000", 1, 1000, 128, 128, 1, 5},
    {"along 1 axis, 400/160 1-64 @16000", 1, 16000, 1, 64, 1, 400, 160},
    {"16x16/16 3-768 @224", 224, 224, 3, 768, 16, 16, 16},
};

Sizes::Axis axis(int64_t input, int64_t taps, int64_t stride) {
  const int64_t before = input == 1 || taps > 16 || stride == taps ? 0 : taps / 2;
  return {input, (input + 2 * before - taps) / stride + 1, taps, stride, 1, before};
}

Sizes sizes_of(const Layer& layer, int64_t images) {
  Sizes sizes{.images = images, .channels = layer.channels, .filters = layer.filters, .groups = layer.groups};
  sizes.axes = {Sizes::Axis{1, 1, 1, 1, 1, 0}, axis(layer.height, layer.taps_high, layer.height == 1 ? 1 : layer.stride),
                axis(layer.width, layer.taps_wide, layer.stride)};
  sizes.slices = convolution_slices(sizes);
  return sizes;
}

double seconds(bool of_thread) {
  if (!of_thread) return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Bench {
  Pool& pool;
  const ConvolutionKernels& kernels;
  int repeats;
  double total[3] = {};

  void measure(const Layer& layer, int64_t images) {
    const Sizes sizes = sizes_of(layer, images);
    int64_t inputs = images, outputs = images, taps = 1;
    for (const auto& a : sizes.axes) {
      inputs *= a.input;
      outputs *= a.output;
      taps *= a.taps;
    }
    const auto kernel_size = static_cast<size_t>(taps * (sizes.channels / sizes.groups) * sizes.filters);
    std::vector<float> x(static_cast<size_t>(inputs * sizes.channels), 0.5F), kernel(kernel_size, 0.25F),
        y(static_cast<size_t>(outputs * sizes.filters), 1.0F), partial(kernel_size * static_cast<size_t>(sizes.slices));
    const double flops = 2.0 * static_cast<double>(outputs) * static_cast<double>(kernel_size);
    std::printf("%-36s", layer.name);
    for (const Wanted wanted : {Wanted::Result, Wanted::InputGradient, Wanted::KernelGradient}) {
      ConvolutionCall call{.wanted = wanted, .sizes = sizes, .partial = partial.data()};
      call.first = wanted == Wanted::InputGradient ? y.data() : x.data();
      call.second = wanted == Wanted::KernelGradient ? y.data() : kernel.data();
      call.result = wanted == Wanted::Result ? y.data() : wanted == Wanted::InputGradient ? x.data() : kernel.data();
      AsContext context = make_context(pool);
      double best = 1e9;
      for (int i = 0; i < repeats; ++i) {
        const double start = seconds(pool.threads() == 1);
        if (convolve_with(kernels, &context, call, nullptr) != 0) std::exit(1);
        best = std::min(best, seconds(pool.threads() == 1) - start);
      }
      total[static_cast<int>(wanted)] += best * layer.repeats;
      std::printf(" %8.3f ms %6.1f", best * 1e3, flops / best / 1e9);
      std::fill(x.begin(), x.end(), 0.5F);
      std::fill(y.begin(), y.end(), 1.0F);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
};

}  // namespace

int main(int count, char** arguments) {
  const FlushDenormals flush;
  const int threads = count > 1 ? std::atoi(arguments[1]) : 2, repeats = count > 2 ? std::atoi(arguments[2]) : 10;
  const bool avx2 = count > 3 && std::strcmp(arguments[3], "avx2") == 0;
  const ConvolutionKernels* const kernels = avx2 ? convolution_sets().avx2 : convolution_sets().best();
  if (kernels == nullptr) return 1;
  Pool pool(threads);
  pool.start();
  Bench bench{pool, *kernels, repeats};
  std::printf("%d threads, vectors of %ld; one image; ms and GFLOP/s of results, gradients of the input, of the kernel\n", threads,
              static_cast<long>(kernels->lanes));
  for (const Layer& layer : resnet) bench.measure(layer, 1);
  std::printf("all convolutions of ResNet-50: %.1f %.1f %.1f ms\n", bench.total[0] * 1e3, bench.total[1] * 1e3, bench.total[2] * 1e3);
  for (const Layer& layer : others) bench.measure(layer, 1);
  return 0;
}
