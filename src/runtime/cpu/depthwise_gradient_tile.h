// Gradients of depthwise kernels in registers, for the instruction set V: sums of several taps and vectors while pixels pass by.
#pragma once
#include "runtime/cpu/depthwise_tile.h"

namespace anyshape::runtime {

// Sums of `taps` taps from `first_tap` on, for a vector of channels and one value of their groups.
template <class V, int taps, class Lanes>
[[gnu::always_inline]] inline void add_tap_gradients(const DepthwiseGradient& g, int64_t first_tap, int64_t value, const Lanes& lanes) {
  float* const sums_at = g.sums + first_tap * g.sum_step + value * g.channels;
  typename V::Vector sums[taps];
  unrolled<taps>([&](auto tap) __attribute__((always_inline)) { sums[tap] = lanes.load(sums_at + tap * g.sum_step); });
  const float *source = g.source + first_tap * g.tap_step, *dy = g.dy;
  const typename V::Indices indices = lanes.indices(value);
  for (int64_t pixel = 0; pixel < g.pixels; ++pixel, source += g.pixel_step, dy += g.dy_step) {
    const typename V::Vector gradient = lanes.load(dy);
    unrolled<taps>([&](auto tap) __attribute__((always_inline)) {
      const float* const at = source + tap * g.tap_step;
      V::add_product(sums[tap], lanes.pick(lanes.source(at), at, indices), gradient);
    });
  }
  unrolled<taps>([&](auto tap) __attribute__((always_inline)) { lanes.store(sums_at + tap * g.sum_step, sums[tap]); });
}

// The same for several whole vectors at once, so that few taps do not wait for each other; says up to which channel.
template <class V, int taps, int vectors>
int64_t add_wide_tap_gradients(const DepthwiseGradient& g, int64_t first_tap, int64_t channel) {
  for (; channel + vectors * V::lanes <= g.end_channel; channel += vectors * V::lanes) {
    float* const sums_at = g.sums + first_tap * g.sum_step + channel;
    typename V::Vector sums[taps][vectors];
    unrolled<taps>([&](auto tap) __attribute__((always_inline)) {
      unrolled<vectors>(
          [&](auto vector) __attribute__((always_inline)) { sums[tap][vector] = V::load(sums_at + tap * g.sum_step + vector * V::lanes); });
    });
    const float *source = g.source + first_tap * g.tap_step + channel, *dy = g.dy + channel;
    for (int64_t pixel = 0; pixel < g.pixels; ++pixel, source += g.pixel_step, dy += g.dy_step) {
      unrolled<vectors>([&](auto vector) __attribute__((always_inline)) {
        const typename V::Vector gradient = V::load(dy + vector * V::lanes);
        unrolled<taps>([&](auto tap) __attribute__((always_inline)) {
          V::add_product(sums[tap][vector], V::load(source + tap * g.tap_step + vector * V::lanes), gradient);
        });
      });
    }
    unrolled<taps>([&](auto tap) __attribute__((always_inline)) {
      unrolled<vectors>(
          [&](auto vector) __attribute__((always_inline)) { V::store(sums_at + tap * g.sum_step + vector * V::lanes, sums[tap][vector]); });
    });
  }
  return channel;
}

template <class V, int taps>
void add_gradients_of_taps(const DepthwiseGradient& g, int64_t first_tap) {
  if (g.groups.columns != 1 || g.groups.values != 1) {
    each_vector_in_groups<V>(g.first_channel, g.end_channel, g.channels, g.groups, [&](const auto& lanes) __attribute__((always_inline)) {
      for (int64_t value = 0; value < g.groups.values; ++value) add_tap_gradients<V, taps>(g, first_tap, value, lanes);
    });
    return;
  }
  constexpr int fitting = (V::registers - 4) / taps, vectors = fitting >= 4 ? 4 : fitting >= 2 ? 2 : 1;
  const int64_t channel = add_wide_tap_gradients<V, taps, vectors>(g, first_tap, g.first_channel);
  each_vector<V>(channel, g.end_channel, g.channels,
                 [&](const auto& lanes) __attribute__((always_inline)) { add_tap_gradients<V, taps>(g, first_tap, 0, lanes); });
}

template <class V>
void depthwise_gradient(const DepthwiseGradient& g) {
  int64_t tap = 0;
  for (; g.taps - tap >= 10; tap += 5) add_gradients_of_taps<V, 5>(g, tap);
  switch (g.taps - tap) {
    case 9: add_gradients_of_taps<V, 5>(g, tap); return add_gradients_of_taps<V, 4>(g, tap + 5);
    case 8: add_gradients_of_taps<V, 4>(g, tap); return add_gradients_of_taps<V, 4>(g, tap + 4);
    case 7: return add_gradients_of_taps<V, 7>(g, tap);
    case 6: add_gradients_of_taps<V, 3>(g, tap); return add_gradients_of_taps<V, 3>(g, tap + 3);
    case 5: return add_gradients_of_taps<V, 5>(g, tap);
    case 4: return add_gradients_of_taps<V, 4>(g, tap);
    case 3: return add_gradients_of_taps<V, 3>(g, tap);
    case 2: return add_gradients_of_taps<V, 2>(g, tap);
    case 1: return add_gradients_of_taps<V, 1>(g, tap);
    default: return;
  }
}

}  // namespace anyshape::runtime
