// What layers ask of their options.
#include "nn/make_layer.h"

#include "graph/layer_path.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::nn {

void give_name(const AnyLayer& layer, const std::string& name) {
  require_layer_name(type_of(*layer.layer()), name);
  layer.layer()->state().name = name;
  layer.layer()->state().is_named = true;
}

void share_dtype(const Layer& outer, const AnyLayer& inner, const std::optional<Dtype>& given) {
  LayerState& state = inner.layer()->state();
  if (!state.dtype) state.dtype = given;
  outer.state().dtype = state.dtype;
}

void require_positive(const char* layer, const char* what, int64_t value) {
  if (value < 1) throw ArgumentError(fmt::format("{}: {} is {}; expected at least 1.", layer, what, value));
}

void require_rate(const char* layer, const char* what, double rate) {
  if (!(rate >= 0 && rate < 1)) throw ArgumentError(fmt::format("{}: {} is {}; expected 0 <= rate < 1.", layer, what, rate));
}

int axis_of(const Layer& layer, int axis, int rank) {
  const int found = axis < 0 ? axis + rank : axis;
  if (found > 0 && found < rank) return found;
  throw ShapeError(
      fmt::format("{}: axis {} of an input of rank {}; expected an axis behind the rows.{}", type_of(layer), axis, rank, current_place()));
}

}  // namespace anyshape::nn
