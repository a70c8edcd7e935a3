// Convolutions in small groups, depthwise ones above all, in registers, for the instruction set V: neighbouring channels of a result are the lanes.
#pragma once
#include "runtime/cpu/convolution_kernels.h"
#include "runtime/cpu/unrolled.h"

namespace anyshape::runtime {

// How the lanes of a vector get the values of their groups: each has one of its own, or they are picked from the values of one vector, or read one
// by one.
enum class LaneSource { Own, Picked, Gathered };

// A vector of channels, `first` and those behind it. Whole: all lanes are channels.
template <class V, LaneSource how, bool whole>
class Lanes {
 public:
  [[gnu::always_inline]] Lanes(int64_t first, int64_t channels, const LaneGroups& groups)
      : first_(first), mask_(V::first_lanes(whole ? V::lanes : channels - first)) {
    if constexpr (how != LaneSource::Own) {
      const int64_t group = first / groups.columns, values = (channels / groups.columns - group) * groups.values;
      value_ = group * groups.values;
      value_mask_ = V::first_lanes(values < V::lanes ? values : V::lanes);
      int32_t index_of[V::lanes];
      for (int64_t lane = 0; lane < V::lanes; ++lane) {
        const int64_t channel = first + lane < channels ? first + lane : channels - 1;
        index_of[lane] = static_cast<int32_t>((channel / groups.columns - group) * groups.values);
      }
      indices_ = V::load_indices(index_of);
    }
  }

  // What is read of a pixel for all values of a group, and the value-th of it; `pixel` is where all channels begin.
  [[gnu::always_inline]] typename V::Vector source(const float* pixel) const {
    if constexpr (how == LaneSource::Own) return load(pixel);
    if constexpr (how == LaneSource::Picked) return V::load(pixel + value_, value_mask_);
    return V::zero();
  }
  [[gnu::always_inline]] typename V::Indices indices(int64_t value) const { return V::increased(indices_, value); }
  [[gnu::always_inline]] typename V::Vector pick(typename V::Vector source, const float* pixel, typename V::Indices indices) const {
    if constexpr (how == LaneSource::Picked) return V::permute(source, indices);
    if constexpr (how == LaneSource::Gathered) return V::gather(pixel + value_, indices);
    return source;
  }

  // Of all channels.
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
  int64_t value_ = 0;
  typename V::Mask value_mask_ = {};
  typename V::Indices indices_ = {};
};

// Calls body(lanes) for each vector of channels in [first, end); the end is that of all channels, or whole vectors away.
template <class V, class Body>
[[gnu::always_inline]] inline void each_vector(int64_t first, int64_t end, int64_t channels, const Body& body) {
  const LaneGroups own;
  for (; first + V::lanes <= end; first += V::lanes) body(Lanes<V, LaneSource::Own, true>(first, channels, own));
  if (first < end) body(Lanes<V, LaneSource::Own, false>(first, channels, own));
}
template <class V, class Body>
[[gnu::always_inline]] inline void each_vector_in_groups(int64_t first, int64_t end, int64_t channels, const LaneGroups& groups,
                                                         const Body& body) {
  for (; first < end; first += V::lanes) {
    const int64_t last = first + V::lanes <= end ? first + V::lanes - 1 : end - 1;
    const bool is_near = (last / groups.columns - first / groups.columns + 1) * groups.values <= V::lanes;
    if (first + V::lanes > end)
      is_near ? body(Lanes<V, LaneSource::Picked, false>(first, channels, groups))
              : body(Lanes<V, LaneSource::Gathered, false>(first, channels, groups));
    else
      is_near ? body(Lanes<V, LaneSource::Picked, true>(first, channels, groups))
              : body(Lanes<V, LaneSource::Gathered, true>(first, channels, groups));
  }
}

// `pixels` results whose sources are `stride` taps apart: each source is read once per row of taps, and meets every result that it belongs to.
template <class V, int taps, int stride, int pixels>
void run_depthwise_tile(const DepthwiseRun& run, int64_t first_pixel) {
  float* const result = run.result + first_pixel * run.result_step;
  const int64_t from = run.source_offset + first_pixel * run.pixel_step;
  each_vector<V>(0, run.channels, run.channels, [&](const auto& lanes) __attribute__((always_inline)) {
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

// Any taps, however far they are apart; channels from `first_channel` on.
template <class V, int pixels>
void run_depthwise_taps(const DepthwiseRun& run, int64_t first_pixel, int64_t first_channel) {
  float* const result = run.result + first_pixel * run.result_step;
  const int64_t from = run.source_offset + first_pixel * run.pixel_step;
  each_vector<V>(first_channel, run.channels, run.channels, [&](const auto& lanes) __attribute__((always_inline)) {
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

// The same where groups have several values or columns.
template <class V, int pixels>
void run_small_groups(const DepthwiseRun& run, int64_t first_pixel) {
  float* const result = run.result + first_pixel * run.result_step;
  const int64_t from = run.source_offset + first_pixel * run.pixel_step;
  each_vector_in_groups<V>(0, run.channels, run.channels, run.groups, [&](const auto& lanes) __attribute__((always_inline)) {
    typename V::Vector sums[pixels];
    unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) { sums[pixel] = V::zero(); });
    for (int64_t row = 0; row < run.rows; ++row) {
      const float *source = run.sources[row] + from, *weights = run.weights[row] + run.weight_offset;
      for (int64_t tap = 0; tap < run.taps; ++tap, source += run.tap_step, weights += run.weight_step) {
        typename V::Vector all[pixels];
        unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) { all[pixel] = lanes.source(source + pixel * run.pixel_step); });
        for (int64_t value = 0; value < run.groups.values; ++value) {
          const typename V::Vector weight = lanes.load(weights + value * run.channels);
          const typename V::Indices indices = lanes.indices(value);
          unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) {
            V::add_product(sums[pixel], lanes.pick(all[pixel], source + pixel * run.pixel_step, indices), weight);
          });
        }
      }
    }
    unrolled<pixels>([&](auto pixel) __attribute__((always_inline)) { lanes.store(result + pixel * run.result_step, sums[pixel]); });
  });
}

template <class V>
void run_small_groups(const DepthwiseRun& run) {
  constexpr int most = V::registers == 32 ? 8 : 5;
  int64_t pixel = 0;
  for (; pixel + most <= run.pixels; pixel += most) run_small_groups<V, most>(run, pixel);
  for (; pixel + 2 <= run.pixels; pixel += 2) run_small_groups<V, 2>(run, pixel);
  if (pixel < run.pixels) run_small_groups<V, 1>(run, pixel);
}

// One pixel, four vectors at a time: a single sum waits for itself. Says how many channels are done.
template <class V>
int64_t run_depthwise_pixel(const DepthwiseRun& run, int64_t pixel) {
  constexpr int vectors = 4;
  float* const result = run.result + pixel * run.result_step;
  int64_t channel = 0;
  for (; channel + vectors * V::lanes <= run.channels; channel += vectors * V::lanes) {
    typename V::Vector sums[vectors];
    unrolled<vectors>([&](auto vector) __attribute__((always_inline)) { sums[vector] = V::zero(); });
    for (int64_t row = 0; row < run.rows; ++row) {
      const float* source = run.sources[row] + run.source_offset + pixel * run.pixel_step + channel;
      const float* weights = run.weights[row] + run.weight_offset + channel;
      for (int64_t tap = 0; tap < run.taps; ++tap, source += run.tap_step, weights += run.weight_step) {
        unrolled<vectors>([&](auto vector) __attribute__((always_inline)) {
          V::add_product(sums[vector], V::load(source + vector * V::lanes), V::load(weights + vector * V::lanes));
        });
      }
    }
    unrolled<vectors>([&](auto vector) __attribute__((always_inline)) { V::store(result + channel + vector * V::lanes, sums[vector]); });
  }
  return channel;
}

template <class V>
void run_any_depthwise(const DepthwiseRun& run) {
  int64_t pixel = 0;
  for (; pixel + 4 <= run.pixels; pixel += 4) run_depthwise_taps<V, 4>(run, pixel, 0);
  for (; pixel < run.pixels; ++pixel) run_depthwise_taps<V, 1>(run, pixel, run_depthwise_pixel<V>(run, pixel));
}

template <class V, int taps, int stride>
void run_depthwise(const DepthwiseRun& run) {
  constexpr int most = V::registers == 32 ? 8 : 6;
  int64_t pixel = 0;
  for (; pixel + most <= run.pixels; pixel += most) run_depthwise_tile<V, taps, stride, most>(run, pixel);
  for (; pixel + 4 <= run.pixels; pixel += 4) run_depthwise_tile<V, taps, stride, 4>(run, pixel);
  for (; pixel + 2 <= run.pixels; pixel += 2) run_depthwise_tile<V, taps, stride, 2>(run, pixel);
  if (pixel < run.pixels) run_depthwise_tile<V, taps, stride, 1>(run, pixel);
}

template <class V>
void depthwise_run(const DepthwiseRun& asked) {
  if (asked.groups.columns != 1 || asked.groups.values != 1) return run_small_groups<V>(asked);
  DepthwiseRun run = asked;
  if (run.taps == 1) run.tap_step = run.pixel_step;
  if (run.pixel_step == -run.tap_step) {  // from the last pixel to the first, both go on in the same direction
    run.source_offset += (run.pixels - 1) * run.pixel_step;
    run.result += (run.pixels - 1) * run.result_step;
    run.pixel_step = -run.pixel_step;
    run.result_step = -run.result_step;
  }
  const bool every = run.pixel_step == run.tap_step;
  if (run.pixels == 1 || (!every && run.pixel_step != 2 * run.tap_step)) return run_any_depthwise<V>(asked);
  switch (run.taps) {
    case 1: return run_depthwise<V, 1, 1>(run);
    case 2: return every ? run_depthwise<V, 2, 1>(run) : run_depthwise<V, 2, 2>(run);
    case 3: return every ? run_depthwise<V, 3, 1>(run) : run_depthwise<V, 3, 2>(run);
    case 4: return every ? run_depthwise<V, 4, 1>(run) : run_depthwise<V, 4, 2>(run);
    case 5: return every ? run_depthwise<V, 5, 1>(run) : run_depthwise<V, 5, 2>(run);
    case 7: return every ? run_depthwise<V, 7, 1>(run) : run_depthwise<V, 7, 2>(run);
    default: return run_any_depthwise<V>(asked);
  }
}

}  // namespace anyshape::runtime
