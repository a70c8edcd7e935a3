// Depthwise convolutions in registers, for the instruction set V: neighbouring filters in the lanes, each with the channel that it belongs to.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/unrolled.h"

namespace anyshape::runtime {

// Reads the channels of a vector of filters, `first` and those behind it: `multiplier` filters have one channel. Whole: all lanes are filters.
template <class V, bool whole, bool spreads>
class FilterLanes {
 public:
  [[gnu::always_inline]] FilterLanes(int64_t first, int64_t filters, int64_t multiplier)
      : first_(first), mask_(V::first_lanes(whole ? V::lanes : filters - first)) {
    if constexpr (spreads) {
      channel_ = first / multiplier;
      const int64_t channels = filters / multiplier - channel_;
      channel_mask_ = V::first_lanes(channels < V::lanes ? channels : V::lanes);
      int32_t channel_of[V::lanes];
      for (int lane = 0; lane < V::lanes; ++lane) channel_of[lane] = static_cast<int32_t>((first + lane) / multiplier - channel_);
      indices_ = V::load_indices(channel_of);
    }
  }
  // Of all channels of a pixel.
  [[gnu::always_inline]] typename V::Vector source(const float* pixel) const {
    if constexpr (spreads)
      return V::permute(V::load(pixel + channel_, channel_mask_), indices_);
    else
      return load(pixel);
  }
  // Of all filters.
  [[gnu::always_inline]] typename V::Vector load(const float* from) const {
    if constexpr (whole)
      return V::load(from + first_);
    else
      return V::load(from + first_, mask_);
  }
  [[gnu::always_inline]] void store(float* to, typename V::Vector vector) const {
    if constexpr (whole)
      V::store(to + first_, vector);
    else
      V::store(to + first_, vector, mask_);
  }

 private:
  int64_t first_;
  typename V::Mask mask_;
  int64_t channel_ = 0;
  typename V::Mask channel_mask_ = {};
  typename V::Indices indices_ = {};
};

// Calls body(lanes) for each vector of filters in [first, end); the end is that of all filters, or whole vectors away.
template <class V, bool spreads, class Body>
[[gnu::always_inline]] inline void each_vector(int64_t first, int64_t end, int64_t filters, int64_t multiplier, const Body& body) {
  for (; first + V::lanes <= end; first += V::lanes) body(FilterLanes<V, true, spreads>(first, filters, multiplier));
  if (first < end) body(FilterLanes<V, false, spreads>(first, filters, multiplier));
}

// `pixels` results whose sources are `stride` taps apart: each source is read once per row of taps, and meets every result that it belongs to.
template <class V, bool spreads, int taps, int stride, int pixels>
void run_depthwise_tile(const DepthwiseRun& run, int64_t first_pixel) {
  float* const result = run.result + first_pixel * run.result_step;
  const int64_t from = run.source_offset + first_pixel * run.pixel_step;
  each_vector<V, spreads>(0, run.filters, run.filters, run.multiplier, [&](const auto& lanes) __attribute__((always_inline)) {
    typename V::Vector sums[pixels];
    unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) { sums[pixel] = V::zero(); });
    for (int64_t row = 0; row < run.rows; ++row) {
      typename V::Vector weights[taps];
      unrolled<taps>([&](auto tap) __attribute__((always_inline)) {
        weights[tap] = lanes.load(run.weights[row] + run.weight_offset + tap * run.weight_step);
      });
      const float* source = run.sources[row] + from;
      unrolled<(pixels - 1) * stride + taps>([&](auto at) __attribute__((always_inline)) {
        const typename V::Vector value = lanes.source(source);
        source += run.tap_step;
        unrolled<taps>([&](auto tap) __attribute__((always_inline)) {
          constexpr int distance = at - tap;
          if constexpr (distance >= 0 && distance % stride == 0 && distance / stride < pixels)
            V::add_product(sums[distance / stride], value, weights[tap]);
        });
      });
    }
    unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) { lanes.store(result + pixel * run.result_step, sums[pixel]); });
  });
}

// Any taps, however far they are apart; filters from `first_filter` on.
template <class V, bool spreads, int pixels>
void run_depthwise_taps(const DepthwiseRun& run, int64_t first_pixel, int64_t first_filter) {
  float* const result = run.result + first_pixel * run.result_step;
  const int64_t from = run.source_offset + first_pixel * run.pixel_step;
  each_vector<V, spreads>(first_filter, run.filters, run.filters, run.multiplier, [&](const auto& lanes) __attribute__((always_inline)) {
    typename V::Vector sums[pixels];
    unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) { sums[pixel] = V::zero(); });
    for (int64_t row = 0; row < run.rows; ++row) {
      const float *source = run.sources[row] + from, *weights = run.weights[row] + run.weight_offset;
      for (int64_t tap = 0; tap < run.taps; ++tap, source += run.tap_step, weights += run.weight_step) {
        const typename V::Vector weight = lanes.load(weights);
        unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) {
          V::add_product(sums[pixel], lanes.source(source + pixel * run.pixel_step), weight);
        });
      }
    }
    unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) { lanes.store(result + pixel * run.result_step, sums[pixel]); });
  });
}

// One pixel, four vectors at a time: a single sum waits for itself. Says how many filters are done.
template <class V>
int64_t run_depthwise_pixel(const DepthwiseRun& run, int64_t pixel) {
  constexpr int vectors = 4;
  float* const result = run.result + pixel * run.result_step;
  int64_t filter = 0;
  for (; filter + vectors * V::lanes <= run.filters; filter += vectors * V::lanes) {
    typename V::Vector sums[vectors];
    unrolled<vectors>([&](auto vector) __attribute__((always_inline)) { sums[vector] = V::zero(); });
    for (int64_t row = 0; row < run.rows; ++row) {
      const float* source = run.sources[row] + run.source_offset + pixel * run.pixel_step + filter;
      const float* weights = run.weights[row] + run.weight_offset + filter;
      for (int64_t tap = 0; tap < run.taps; ++tap, source += run.tap_step, weights += run.weight_step) {
        unrolled<vectors>([&](auto vector) __attribute__((always_inline)) {
          V::add_product(sums[vector], V::load(source + vector * V::lanes), V::load(weights + vector * V::lanes));
        });
      }
    }
    unrolled<vectors>([&](auto vector) __attribute__((always_inline)) { V::store(result + filter + vector * V::lanes, sums[vector]); });
  }
  return filter;
}

template <class V, bool spreads>
void run_any_depthwise(const DepthwiseRun& run) {
  int64_t pixel = 0;
  for (; pixel + 4 <= run.pixels; pixel += 4) run_depthwise_taps<V, spreads, 4>(run, pixel, 0);
  for (; pixel < run.pixels; ++pixel) run_depthwise_taps<V, spreads, 1>(run, pixel, spreads ? 0 : run_depthwise_pixel<V>(run, pixel));
}

template <class V, int taps, int stride>
void run_depthwise(const DepthwiseRun& run) {
  constexpr int most = V::registers == 32 ? 8 : 6;
  int64_t pixel = 0;
  for (; pixel + most <= run.pixels; pixel += most) run_depthwise_tile<V, false, taps, stride, most>(run, pixel);
  for (; pixel + 4 <= run.pixels; pixel += 4) run_depthwise_tile<V, false, taps, stride, 4>(run, pixel);
  for (; pixel + 2 <= run.pixels; pixel += 2) run_depthwise_tile<V, false, taps, stride, 2>(run, pixel);
  if (pixel < run.pixels) run_depthwise_tile<V, false, taps, stride, 1>(run, pixel);
}

template <class V>
void depthwise_run(const DepthwiseRun& asked) {
  if (asked.multiplier != 1) return run_any_depthwise<V, true>(asked);
  DepthwiseRun run = asked;
  if (run.taps == 1) run.tap_step = run.pixel_step;
  if (run.pixel_step == -run.tap_step) {  // from the last pixel to the first, both go on in the same direction
    run.source_offset += (run.pixels - 1) * run.pixel_step;
    run.result += (run.pixels - 1) * run.result_step;
    run.pixel_step = -run.pixel_step;
    run.result_step = -run.result_step;
  }
  const bool every = run.pixel_step == run.tap_step;
  if (run.pixels == 1 || (!every && run.pixel_step != 2 * run.tap_step)) return run_any_depthwise<V, false>(asked);
  switch (run.taps) {
    case 1: return run_depthwise<V, 1, 1>(run);
    case 2: return every ? run_depthwise<V, 2, 1>(run) : run_depthwise<V, 2, 2>(run);
    case 3: return every ? run_depthwise<V, 3, 1>(run) : run_depthwise<V, 3, 2>(run);
    case 4: return every ? run_depthwise<V, 4, 1>(run) : run_depthwise<V, 4, 2>(run);
    case 5: return every ? run_depthwise<V, 5, 1>(run) : run_depthwise<V, 5, 2>(run);
    case 7: return every ? run_depthwise<V, 7, 1>(run) : run_depthwise<V, 7, 2>(run);
    default: return run_any_depthwise<V, false>(asked);
  }
}

}  // namespace anyshape::runtime
