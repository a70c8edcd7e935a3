// Symbols that stand for random state in kernels' size tables.
#include "lower/random_symbols.h"

#include "shape/dim_node.h"

namespace anyshape::lower {

const Dim& random_key_symbol() {
  static const Dim symbol = make_symbol("random_key");
  return symbol;
}

const Dim& random_counter_symbol() {
  static const Dim symbol = make_symbol("random_counter");
  return symbol;
}

}  // namespace anyshape::lower
