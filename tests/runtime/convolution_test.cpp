// Convolutions of any size: against sums in f64, the same bits for any number of threads and on every instruction set, blocks that cover a result
// once.
#include "runtime/cpu/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "check/test_share.h"
#include "runtime/cpu/externs.h"

namespace anyshape::runtime {
namespace {

using Sizes = ConvolutionSizes<int64_t>;
using Wanted = ConvolutionWork::Wanted;
constexpr Wanted all_wanted[] = {Wanted::Result, Wanted::InputGradient, Wanted::KernelGradient};

std::string text_of(const Sizes& s) {
  std::string text = "images " + std::to_string(s.images) + " channels " + std::to_string(s.channels) + " filters " +
                     std::to_string(s.filters) + " groups " + std::to_string(s.groups) + " slices " + std::to_string(s.slices);
  for (const auto& a : s.axes) {
    text += " [" + std::to_string(a.input) + " -> " + std::to_string(a.output) + " taps " + std::to_string(a.taps) + " stride " +
            std::to_string(a.stride) + " dilation " + std::to_string(a.dilation) + " before " + std::to_string(a.before) + "]";
  }
  return text;
}

int64_t inputs(const Sizes& s) { return s.axes[0].input * s.axes[1].input * s.axes[2].input; }
int64_t outputs(const Sizes& s) { return s.axes[0].output * s.axes[1].output * s.axes[2].output; }
int64_t taps(const Sizes& s) { return s.axes[0].taps * s.axes[1].taps * s.axes[2].taps; }

// An axis with paddings before and behind.
Sizes::Axis axis(int64_t input, int64_t taps, int64_t stride = 1, int64_t dilation = 1, int64_t before = 0, int64_t behind = 0) {
  const int64_t reach = taps == 0 ? 1 : (taps - 1) * dilation + 1, room = input + before + behind - reach;
  return {input, room < 0 ? 0 : room / stride + 1, taps, stride, dilation, before};
}
constexpr Sizes::Axis no_axis{1, 1, 1, 1, 1, 0};

Sizes with_slices(Sizes sizes) {
  sizes.slices = convolution_slices(sizes);
  return sizes;
}
Sizes image_sizes(int64_t images, Sizes::Axis height, Sizes::Axis width, int64_t channels, int64_t filters, int64_t groups = 1) {
  return with_slices({.images = images, .channels = channels, .filters = filters, .groups = groups, .axes = {no_axis, height, width}});
}

// Numbers of few bits: their products are exact, and sums differ by rounding only.
std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> result(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761U + 12345;
  for (float& x : result) {
    state = state * 1664525U + 1013904223U;
    x = static_cast<float>(static_cast<int32_t>(state >> 20) - 2048) / 2048.0F;
  }
  return result;
}

// The tensors of a convolution: x, kernel and dy are given, and what is wanted of them is computed.
struct Tensors {
  explicit Tensors(const Sizes& sizes)
      : sizes(sizes),
        x(numbers(sizes.images * inputs(sizes) * sizes.channels, 1)),
        kernel(numbers(taps(sizes) * (sizes.channels / sizes.groups) * sizes.filters, 2)),
        dy(numbers(sizes.images * outputs(sizes) * sizes.filters, 3)) {}

  const std::vector<float>& like(Wanted wanted) const {
    return wanted == Wanted::Result ? dy : wanted == Wanted::InputGradient ? x : kernel;
  }
  const std::vector<float>& first(Wanted wanted) const { return wanted == Wanted::InputGradient ? dy : x; }
  const std::vector<float>& second(Wanted wanted) const { return wanted == Wanted::KernelGradient ? dy : kernel; }

  Sizes sizes;
  std::vector<float> x, kernel, dy;
};

// By definition, tap after tap.
std::vector<double> expected(const Tensors& t, Wanted wanted) {
  const Sizes& s = t.sizes;
  const int64_t channels = s.channels / s.groups, filters = s.filters / s.groups;
  std::vector<double> result(t.like(wanted).size());
  const auto meet = [&](int64_t result_pixel, int64_t source_pixel, int64_t tap) {
    for (int64_t filter = 0; filter < s.filters; ++filter) {
      for (int64_t channel = 0; channel < channels; ++channel) {
        const auto x = static_cast<size_t>(source_pixel * s.channels + filter / filters * channels + channel);
        const auto w = static_cast<size_t>((tap * channels + channel) * s.filters + filter),
                   y = static_cast<size_t>(result_pixel * s.filters + filter);
        switch (wanted) {
          case Wanted::Result: result[y] += double{t.x[x]} * double{t.kernel[w]}; break;
          case Wanted::InputGradient: result[x] += double{t.dy[y]} * double{t.kernel[w]}; break;
          case Wanted::KernelGradient: result[w] += double{t.x[x]} * double{t.dy[y]}; break;
        }
      }
    }
  };
  int64_t out[3], tap[3];
  const auto is_in = [&](size_t a) {
    const int64_t at = out[a] * s.axes[a].stride + tap[a] * s.axes[a].dilation - s.axes[a].before;
    return at >= 0 && at < s.axes[a].input ? at : int64_t{-1};
  };
  for (int64_t image = 0; image < s.images; ++image) {
    for (int64_t pixel = 0; pixel < outputs(s); ++pixel) {
      out[2] = pixel % s.axes[2].output, out[1] = pixel / s.axes[2].output % s.axes[1].output,
      out[0] = pixel / s.axes[2].output / s.axes[1].output;
      for (int64_t number = 0; number < taps(s); ++number) {
        tap[2] = number % s.axes[2].taps, tap[1] = number / s.axes[2].taps % s.axes[1].taps,
        tap[0] = number / s.axes[2].taps / s.axes[1].taps;
        const int64_t d = is_in(0), h = is_in(1), w = is_in(2);
        if (d < 0 || h < 0 || w < 0) continue;
        meet(image * outputs(s) + pixel, ((image * s.axes[0].input + d) * s.axes[1].input + h) * s.axes[2].input + w, number);
      }
    }
  }
  return result;
}

std::vector<float> run(const ConvolutionKernels& kernels, Pool& pool, const Tensors& t, Wanted wanted, const BlockRun* after = nullptr) {
  std::vector<float> result(t.like(wanted).size(), std::numeric_limits<float>::quiet_NaN());
  std::vector<float> partial(wanted == Wanted::KernelGradient ? t.kernel.size() * static_cast<size_t>(t.sizes.slices) : 0,
                             std::numeric_limits<float>::quiet_NaN());
  AsContext context = make_context(pool);
  const ConvolutionCall call{.wanted = wanted,
                             .sizes = t.sizes,
                             .first = t.first(wanted).data(),
                             .second = t.second(wanted).data(),
                             .result = result.data(),
                             .partial = partial.data()};
  EXPECT_EQ(convolve_with(kernels, &context, call, after), 0) << text_of(t.sizes);
  return result;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// The sets of this processor.
std::vector<const ConvolutionKernels*> sets() {
  std::vector<const ConvolutionKernels*> result;
  for (const ConvolutionKernels* set : {convolution_sets().avx512, convolution_sets().avx2})
    if (set != nullptr) result.push_back(set);
  return result;
}

// What all sets give alike, and the sums in f64; rounding grows with the root of the number of terms.
void expect_right(const Sizes& sizes, Pool& pool) {
  const Tensors tensors(sizes);
  for (const Wanted wanted : all_wanted) {
    std::vector<float> first;
    for (const ConvolutionKernels* set : sets()) {
      const std::vector<float> result = run(*set, pool, tensors, wanted);
      if (!first.empty()) {
        ASSERT_TRUE(same_bits(first, result)) << text_of(sizes) << ", wanted " << static_cast<int>(wanted)
                                              << ": bits differ between instruction sets";
        continue;
      }
      first = result;
      const std::vector<double> right = expected(tensors, wanted);
      const auto terms =
          static_cast<double>(std::max(taps(sizes) * std::max(sizes.channels, sizes.filters), sizes.images * outputs(sizes)));
      double most = 1;
      for (const double value : right) most = std::max(most, std::fabs(value));
      for (size_t i = 0; i < right.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(result[i]), right[i], most * (3e-6 + 1e-7 * std::sqrt(terms)))
            << text_of(sizes) << ", wanted " << static_cast<int>(wanted) << ", element " << i << " of " << right.size();
      }
    }
  }
}

class RandomSizes {
 public:
  explicit RandomSizes(uint32_t seed) : random_(seed) {}

  // Small enough to be checked against the definition at once.
  Sizes next() {
    for (;;) {
      const Sizes sizes = any();
      const int64_t work = sizes.images * outputs(sizes) * taps(sizes) * (sizes.channels / sizes.groups) * sizes.filters;
      const int64_t most = random_() % 50 == 0 ? 400'000 : 8'000;
      if (work <= most && sizes.images * inputs(sizes) * sizes.channels <= most &&
          taps(sizes) * sizes.channels / sizes.groups * sizes.filters <= most && sizes.images * outputs(sizes) * sizes.filters <= most)
        return sizes;
    }
  }

 private:
  template <class... Value>
  int64_t one_of(Value... value) {
    const int64_t values[] = {value...};
    return values[random_() % sizeof...(value)];
  }

  Sizes any() {
    Sizes sizes{.images = one_of(0, 1, 1, 1, 2, 3, 7), .axes = {no_axis, no_axis, no_axis}};
    const size_t rank = 1 + random_() % 3;
    for (size_t i = 3 - rank; i < 3; ++i)
      sizes.axes[i] =
          axis(one_of(0, 1, 2, 3, 5, 7, 8, 13, 16, 17, 33), one_of(0, 1, 1, 2, 3, 3, 3, 4, 5, 7, 9), one_of(1, 1, 1, 2, 2, 3, 4, 9),
               one_of(1, 1, 1, 1, 2, 3), one_of(0, 0, 1, 1, 2, 3, 40), one_of(0, 0, 1, 1, 2, 3));
    switch (random_() % 4) {
      case 0:  // depthwise
        sizes.groups = one_of(0, 1, 2, 3, 7, 8, 16, 17, 33, 70);
        sizes.channels = sizes.groups;
        sizes.filters = sizes.groups * one_of(1, 1, 1, 1, 2, 3, 5, 20);
        break;
      case 1:
        sizes.groups = one_of(1, 2, 3, 4);
        sizes.channels = sizes.groups * one_of(0, 1, 2, 3, 4, 8, 17);
        sizes.filters = sizes.groups * one_of(0, 1, 2, 3, 4, 8, 17);
        break;
      default:
        sizes.groups = 1;
        sizes.channels = one_of(0, 1, 2, 3, 3, 7, 8, 15, 16, 17, 33, 64);
        sizes.filters = one_of(0, 1, 2, 3, 7, 8, 15, 16, 17, 33, 64, 65, 130);
    }
    sizes.groups = std::max<int64_t>(sizes.groups, 1);
    if (sizes.channels % sizes.groups != 0 || sizes.filters % sizes.groups != 0) sizes.channels = sizes.filters = sizes.groups;
    sizes.slices = random_() % 3 == 0 ? one_of(1, 2, 3, 16) : convolution_slices(sizes);
    return sizes;
  }

  std::mt19937 random_;
};

// Every kind of routine, and work that is cut into several tasks along each of its sizes.
const std::vector<Sizes>& larger_sizes() {
  static const std::vector<Sizes> all = {
      image_sizes(1, axis(37, 7, 2, 1, 3, 3), axis(41, 7, 2, 1, 3, 3), 3, 64),       // a first layer
      image_sizes(2, axis(13, 3, 2, 1, 1, 1), axis(70, 3, 2, 1, 1, 1), 3, 24),       //
      image_sizes(3, axis(9, 3, 1, 1, 1, 1), axis(9, 3, 1, 1, 1, 1), 64, 80),        // 3 x 3
      image_sizes(1, axis(7, 3, 1, 1, 1, 1), axis(7, 3, 1, 1, 1, 1), 600, 70),       // several blocks of depth
      image_sizes(1, axis(3, 3, 1, 1, 1, 1), axis(3, 3, 1, 1, 1, 1), 2100, 9),       // and farther than the zeros reach
      image_sizes(2, axis(20, 3, 1, 1, 1, 1), axis(21, 5, 2, 1, 2, 2), 40, 5),       // few columns
      image_sizes(1, axis(9, 1), axis(9, 1), 600, 3),                                // few columns, several blocks of depth
      image_sizes(2, axis(30, 3, 2, 1, 1, 1), axis(31, 3, 2, 1, 1, 1), 40, 48),      //
      image_sizes(2, axis(20, 1), axis(23, 1), 72, 130),                             // pointwise
      image_sizes(1, axis(8, 1), axis(8, 1), 1700, 33),                              // pointwise, deep
      image_sizes(1, axis(24, 1, 2), axis(24, 1, 2), 64, 256),                       // pointwise with strides
      image_sizes(1, axis(30, 9, 1, 1, 4, 4), axis(30, 9, 1, 1, 4, 4), 20, 24),      // a large kernel
      image_sizes(2, no_axis, axis(300, 5, 1, 1, 2, 2), 32, 40),                     // along one axis
      image_sizes(2, no_axis, axis(900, 40, 10, 1, 0, 0), 1, 33),                    // sound
      image_sizes(1, axis(20, 3, 1, 2, 2, 2), axis(20, 3, 1, 2, 2, 2), 24, 24),      // dilated
      image_sizes(1, axis(20, 3, 1, 2, 2, 2), axis(20, 3, 1, 2, 2, 2), 3, 24),       // dilated, few channels
      image_sizes(2, axis(14, 3, 1, 1, 1, 1), axis(14, 3, 1, 1, 1, 1), 64, 96, 4),   // groups
      image_sizes(2, axis(14, 3, 2, 1, 1, 1), axis(14, 3, 2, 1, 1, 1), 64, 64, 16),  // small groups
      image_sizes(1, axis(40, 3, 1, 1, 1, 1), axis(40, 3, 1, 1, 1, 1), 70, 70, 70),  // depthwise
      image_sizes(1, axis(40, 5, 2, 1, 2, 2), axis(41, 5, 2, 1, 2, 2), 40, 40, 40),  //
      image_sizes(2, axis(30, 7, 1, 1, 3, 3), axis(30, 7, 1, 1, 3, 3), 33, 33, 33),  //
      image_sizes(2, axis(30, 9, 1, 1, 4, 4), axis(30, 6, 1, 1, 2, 3), 17, 17, 17),  //
      image_sizes(2, axis(30, 3, 1, 2, 2, 2), axis(30, 3, 3, 2, 2, 2), 48, 96, 48),  // two filters a channel
      image_sizes(1, axis(32, 16, 16), axis(32, 16, 16), 3, 100),                    // patches
      with_slices({.images = 2,
                   .channels = 5,
                   .filters = 20,
                   .groups = 1,
                   .axes = {axis(9, 3, 1, 1, 1, 1), axis(10, 3, 2, 1, 1, 1), axis(11, 3, 1, 1, 1, 1)}}),
      with_slices({.images = 1,
                   .channels = 32,
                   .filters = 32,
                   .groups = 32,
                   .axes = {axis(9, 3, 1, 1, 1, 1), axis(10, 3, 2, 1, 1, 1), axis(20, 3, 1, 1, 1, 1)}}),
  };
  return all;
}

TEST(Convolution, equals_sums_in_double_for_random_sizes) {
  if (sets().empty()) GTEST_SKIP() << "this processor has neither AVX2 nor AVX-512";
  Pool pool(2);
  RandomSizes random(11);
  const int count = check::share_of(10'000, 500);
  for (int i = 0; i < count && !HasFatalFailure(); ++i) expect_right(random.next(), pool);
}

TEST(Convolution, equals_sums_in_double_where_work_is_cut) {
  if (sets().empty()) GTEST_SKIP() << "this processor has neither AVX2 nor AVX-512";
  Pool pool(2);
  for (const Sizes& sizes : larger_sizes()) {
    expect_right(sizes, pool);
    if (HasFatalFailure()) return;
  }
}

TEST(Convolution, both_instruction_sets_are_tested) {
  if (convolution_sets().avx512 == nullptr) GTEST_SKIP() << "this processor has no AVX-512: only the routines for AVX2 were tested";
  EXPECT_EQ(convolution_sets().best(), convolution_sets().avx512);
  EXPECT_NE(convolution_sets().avx2, nullptr);
}

TEST(Convolution, has_the_same_bits_for_any_number_of_threads) {
  for (const Sizes& sizes : larger_sizes()) {
    const Tensors tensors(sizes);
    for (const Wanted wanted : all_wanted) {
      for (const ConvolutionKernels* set : sets()) {
        std::vector<float> first;
        for (const int threads : {1, 2, 3, 8}) {
          const ScopedPool scoped(threads);
          const std::vector<float> result = run(*set, scoped.pool(), tensors, wanted);
          if (first.empty()) first = result;
          ASSERT_TRUE(same_bits(first, result))
              << text_of(sizes) << ", wanted " << static_cast<int>(wanted) << ", " << threads << " threads";
        }
      }
    }
  }
}

// Keeps what was in a block when it was handed on, and how often each element was.
class BlockCheck final : public BlockRun {
 public:
  BlockCheck(const float*& result, int64_t columns, size_t elements, int32_t status = 0)
      : result_(result), columns_(columns), status_(status), count(elements), seen(elements) {}
  int32_t run(AsContext*, const ResultBlock& block) const override {
    const std::lock_guard lock(mutex_);
    for (int64_t row = block.first_row; row < block.end_row; ++row) {
      for (int64_t column = block.first_column; column < block.end_column; ++column) {
        const auto at = static_cast<size_t>(row * columns_ + column);
        ++count.at(at);
        seen.at(at) = result_[at];
      }
    }
    return status_;
  }

 private:
  const float*& result_;
  int64_t columns_;
  int32_t status_;
  mutable std::mutex mutex_;

 public:
  mutable std::vector<int> count;
  mutable std::vector<float> seen;
};

struct BlockResult {
  int32_t status;
  std::vector<float> result, seen;
  std::vector<int> count;
};
BlockResult run_with_blocks(const ConvolutionKernels& set, Pool& pool, const Tensors& t, Wanted wanted, int32_t status = 0) {
  std::vector<float> result(t.like(wanted).size(), std::numeric_limits<float>::quiet_NaN());
  const float* at = result.data();
  const BlockCheck check(at, wanted == Wanted::Result ? t.sizes.filters : t.sizes.channels, result.size(), status);
  AsContext context = make_context(pool);
  const ConvolutionCall call{
      .wanted = wanted, .sizes = t.sizes, .first = t.first(wanted).data(), .second = t.second(wanted).data(), .result = result.data()};
  const int32_t given = convolve_with(set, &context, call, &check);
  return {given, result, check.seen, check.count};
}

TEST(Convolution, hands_on_every_element_once_and_written) {
  Pool pool(3);
  RandomSizes random(5);
  std::vector<Sizes> all = larger_sizes();
  for (int i = 0; i < check::share_of(300, 50); ++i) all.push_back(random.next());
  for (const Sizes& sizes : all) {
    const Tensors tensors(sizes);
    for (const Wanted wanted : {Wanted::Result, Wanted::InputGradient}) {
      for (const ConvolutionKernels* set : sets()) {
        const BlockResult blocks = run_with_blocks(*set, pool, tensors, wanted);
        EXPECT_EQ(blocks.status, 0);
        ASSERT_TRUE(std::ranges::all_of(blocks.count, [](int count) { return count == 1; })) << text_of(sizes);
        ASSERT_TRUE(same_bits(blocks.seen, blocks.result)) << text_of(sizes);
      }
    }
  }
}

TEST(Convolution, gives_the_status_of_what_follows) {
  Pool pool(2);
  for (const int64_t groups : {1, 64}) {
    const Tensors tensors(image_sizes(1, axis(20, 3, 1, 1, 1, 1), axis(20, 3, 1, 1, 1, 1), 64, 64, groups));
    for (const ConvolutionKernels* set : sets()) EXPECT_EQ(run_with_blocks(*set, pool, tensors, Wanted::Result, 7).status, 7);
  }
}

TEST(Convolution, runs_nothing_for_sizes_of_zero) {
  Pool pool(2);
  for (const Sizes& sizes : {image_sizes(0, axis(20, 3), axis(20, 3), 8, 8), image_sizes(1, axis(2, 3), axis(20, 3), 8, 8),
                             image_sizes(1, axis(20, 3), axis(20, 3), 8, 0)}) {
    const Tensors tensors(sizes);
    for (const ConvolutionKernels* set : sets()) EXPECT_EQ(run_with_blocks(*set, pool, tensors, Wanted::Result, 7).status, 0);
  }
}

TEST(Convolution, without_channels_or_taps_gives_zeros) {
  Pool pool(2);
  for (const Sizes& sizes : {image_sizes(2, axis(9, 3), axis(9, 3), 0, 20), image_sizes(2, axis(9, 0), axis(9, 3), 5, 20),
                             image_sizes(1, axis(0, 3, 1, 1, 4, 4), axis(9, 3), 5, 20)}) {
    const Tensors tensors(sizes);
    for (const ConvolutionKernels* set : sets()) {
      const std::vector<float> result = run(*set, pool, tensors, Wanted::Result);
      EXPECT_FALSE(result.empty());
      EXPECT_TRUE(std::ranges::all_of(result, [](float x) { return x == 0; })) << text_of(sizes);
    }
  }
}

TEST(Convolution, slices_follow_from_sizes) {
  EXPECT_EQ(convolution_slices(image_sizes(1, axis(56, 3, 1, 1, 1, 1), axis(56, 3, 1, 1, 1, 1), 64, 64)), 4);
  EXPECT_EQ(convolution_slices(image_sizes(1, axis(56, 1), axis(56, 1), 64, 64)), 7);
  EXPECT_EQ(convolution_slices(image_sizes(100, axis(56, 1), axis(56, 1), 16, 16)), 16);
  EXPECT_EQ(convolution_slices(image_sizes(1, axis(7, 1), axis(7, 1), 64, 64)), 1);
  EXPECT_EQ(convolution_slices(image_sizes(0, axis(7, 1), axis(7, 1), 0, 64)), 1);
}

}  // namespace
}  // namespace anyshape::runtime
