// Loops that are written out while compiling, so that arrays indexed in them stay in registers.
#pragma once
#include <type_traits>
#include <utility>

namespace anyshape::runtime {

// body(0), ..., body(count - 1), each index as a constant.
template <int count, class Body>
[[gnu::always_inline]] inline void unrolled(const Body& body) {
  [&]<int... index>(std::integer_sequence<int, index...>)
      __attribute__((always_inline)) { (body(std::integral_constant<int, index>{}), ...); }(std::make_integer_sequence<int, count>{});
}

}  // namespace anyshape::runtime
