// Spreads numbers over all 64 bits, so that neighbouring ones share nothing.
#pragma once
#include <cstdint>

namespace anyshape {

// The number-th of the keys that begin at `seed`.
constexpr uint64_t spread_bits(uint64_t seed, uint64_t number) {
  uint64_t bits = seed + 0x9e3779b97f4a7c15U * (number + 1);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

}  // namespace anyshape
