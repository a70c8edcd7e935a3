// Symbols that stand for random state in kernels' size tables.
#include "lower/random_symbols.h"

#include "shape/dim_node.h"

namespace anyshape::lower {

const Dim& random_key_symbol() {
  static const Dim symbol = make_symbol("random_key");
  return symbol;
}

const Dim& call_id_symbol() {
  static const Dim symbol = make_symbol("call_id");
  return symbol;
}

}  // namespace anyshape::lower
