// Handles on layers of ours, with the name and dtype their options give.
#pragma once
#include "nn/layer_state.h"

#include <anyshape/layer.h>

namespace anyshape::nn {

template <class Own, class Options, class... Required>
AnyLayer make_layer(const Options& options, Required&&... required) {
  AnyLayer handle = layer(Own(std::forward<Required>(required)..., options));
  handle.layer()->state().name = options.name;
  handle.layer()->state().is_named = !options.name.empty();
  if (options.dtype) handle.layer()->state().dtype = options.dtype;
  return handle;
}

// A layer around another one: what is given for either holds for both, unless the inner one has its own.
void share_dtype(const Layer& outer, const AnyLayer& inner, const std::optional<Dtype>& given);

// ArgumentError unless `value` is at least 1: "Dense: units is 0; expected at least 1."
void require_positive(const char* layer, const char* what, int64_t value);
void require_rate(const char* layer, const char* what, double rate);  // 0 <= rate < 1

// The axis counted from the front. ShapeError naming the layer's class for one outside, or for the rows.
int axis_of(const Layer& layer, int axis, int rank);

}  // namespace anyshape::nn
