// Seeds and call numbers.
#include "function/random_state.h"

#include <anyshape/random.h>

#include <atomic>

namespace anyshape {
namespace {

std::atomic<uint64_t> key{0};
std::atomic<uint64_t> next_call{0};

// Spreads seeds over all bits, so that neighbouring ones share nothing.
uint64_t mix(uint64_t seed) {
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9U;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebU;
  return seed ^ (seed >> 31);
}

}  // namespace

void random::set_seed(uint64_t seed) {
  key.store(mix(seed + 0x9e3779b97f4a7c15U), std::memory_order_relaxed);
  next_call.store(0, std::memory_order_relaxed);
}

runtime::RandomState function_detail::next_random_state() {
  return {static_cast<int64_t>(key.load(std::memory_order_relaxed)),
          static_cast<int64_t>(next_call.fetch_add(1, std::memory_order_relaxed))};
}

}  // namespace anyshape
