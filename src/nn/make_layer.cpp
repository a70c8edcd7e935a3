// What layers ask of their options.
#include "nn/make_layer.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::nn {

void require_positive(const char* layer, const char* what, int64_t value) {
  if (value < 1) throw ArgumentError(fmt::format("{}: {} is {}; expected at least 1.", layer, what, value));
}

}  // namespace anyshape::nn
