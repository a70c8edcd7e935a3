// Convolutions on the pool: rows of the wanted tensor one by one, each a sum in the order of its taps.
#include "runtime/cpu/cpu_library.h"

#include <algorithm>
#include <atomic>

namespace anyshape::runtime {
namespace {

using Wanted = ConvolutionWork::Wanted;

class PlainConvolution {
 public:
  PlainConvolution(AsContext* context, const ConvolutionCall& call, const BlockRun* after)
      : context_(context),
        call_(call),
        after_(after),
        sizes_(call.sizes),
        channels_of_group_(sizes_.groups == 0 ? 0 : sizes_.channels / sizes_.groups),
        filters_of_group_(sizes_.groups == 0 ? 0 : sizes_.filters / sizes_.groups) {
    for (const auto& axis : sizes_.axes) inputs_ *= axis.input, outputs_ *= axis.output, taps_ *= axis.taps;
  }

  int32_t run() {
    const bool is_result = call_.wanted == Wanted::Result, is_input = call_.wanted == Wanted::InputGradient;
    const int64_t rows = is_result ? sizes_.images * outputs_ : is_input ? sizes_.images * inputs_ : taps_ * channels_of_group_;
    columns_ = is_input ? sizes_.channels : sizes_.filters;
    std::atomic<int32_t> status{0};
    static_cast<Pool*>(context_->pool)->run(rows, 16, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        float* const result = call_.result + row * columns_;
        std::fill_n(result, columns_, 0.0F);
        is_result ? add_result(row, result) : is_input ? add_input_gradient(row, result) : add_kernel_gradient(row, result);
      }
      if (after_ == nullptr || begin == end) return;
      if (const int32_t failed = after_->run(context_, {begin, end, 0, columns_}); failed != 0)
        status.store(failed, std::memory_order_relaxed);
    });
    return status.load(std::memory_order_relaxed);
  }

 private:
  using Place = std::array<int64_t, 3>;

  template <int64_t ConvolutionSizes<int64_t>::Axis::* Size>
  Place place_of(int64_t number) const {
    Place place;
    for (size_t axis = 3; axis-- > 0; number /= sizes_.axes[axis].*Size) place[axis] = number % (sizes_.axes[axis].*Size);
    return place;
  }
  // The input that an output's tap meets, by number; -1: none.
  int64_t input_of(const Place& output, const Place& tap) const {
    int64_t number = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      const auto& each = sizes_.axes[axis];
      const int64_t at = output[axis] * each.stride + tap[axis] * each.dilation - each.before;
      if (at < 0 || at >= each.input) return -1;
      number = number * each.input + at;
    }
    return number;
  }
  // The output whose tap meets an input.
  int64_t output_of(const Place& input, const Place& tap) const {
    int64_t number = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      const auto& each = sizes_.axes[axis];
      const int64_t at = input[axis] + each.before - tap[axis] * each.dilation;
      if (at < 0 || at % each.stride != 0 || at / each.stride >= each.output) return -1;
      number = number * each.output + at / each.stride;
    }
    return number;
  }
  int64_t other_first(int64_t index, int64_t own, int64_t others) const { return index / own * others; }

  using Axis = ConvolutionSizes<int64_t>::Axis;

  void add_result(int64_t row, float* result) const {
    const Place output = place_of<&Axis::output>(row % outputs_);
    for (int64_t tap = 0; tap < taps_; ++tap) {
      const int64_t input = input_of(output, place_of<&Axis::taps>(tap));
      if (input < 0) continue;
      const float* const x = call_.first + (row / outputs_ * inputs_ + input) * sizes_.channels;
      for (int64_t channel = 0; channel < channels_of_group_; ++channel) {
        const float* const kernel = call_.second + (tap * channels_of_group_ + channel) * sizes_.filters;
        for (int64_t filter = 0; filter < sizes_.filters; ++filter)
          result[filter] += x[other_first(filter, filters_of_group_, channels_of_group_) + channel] * kernel[filter];
      }
    }
  }

  void add_input_gradient(int64_t row, float* result) const {
    const Place input = place_of<&Axis::input>(row % inputs_);
    for (int64_t tap = 0; tap < taps_; ++tap) {
      const int64_t output = output_of(input, place_of<&Axis::taps>(tap));
      if (output < 0) continue;
      const float* const dy = call_.first + (row / inputs_ * outputs_ + output) * sizes_.filters;
      for (int64_t channel = 0; channel < sizes_.channels; ++channel) {
        const int64_t first = other_first(channel, channels_of_group_, filters_of_group_);
        const float* const kernel = call_.second + (tap * channels_of_group_ + channel % channels_of_group_) * sizes_.filters;
        for (int64_t filter = first; filter < first + filters_of_group_; ++filter) result[channel] += dy[filter] * kernel[filter];
      }
    }
  }

  void add_kernel_gradient(int64_t row, float* result) const {
    const Place tap = place_of<&Axis::taps>(row / channels_of_group_);
    for (int64_t pixel = 0; pixel < sizes_.images * outputs_; ++pixel) {
      const int64_t input = input_of(place_of<&Axis::output>(pixel % outputs_), tap);
      if (input < 0) continue;
      const float* const x = call_.first + (pixel / outputs_ * inputs_ + input) * sizes_.channels + row % channels_of_group_;
      const float* const dy = call_.second + pixel * sizes_.filters;
      for (int64_t filter = 0; filter < sizes_.filters; ++filter)
        result[filter] += x[other_first(filter, filters_of_group_, channels_of_group_)] * dy[filter];
    }
  }

  AsContext* context_;
  const ConvolutionCall& call_;
  const BlockRun* after_;
  const ConvolutionSizes<int64_t>& sizes_;
  int64_t channels_of_group_, filters_of_group_, columns_ = 0;
  int64_t inputs_ = 1, outputs_ = 1, taps_ = 1;  // of an image, of a kernel
};

}  // namespace

int32_t convolve(AsContext* context, const ConvolutionCall& call, const BlockRun* after) {
  return PlainConvolution(context, call, after).run();
}

}  // namespace anyshape::runtime
