// Handles on layers of ours, with the name and dtype their options give.
#pragma once
#include "nn/layer_arguments.h"
#include "nn/layer_state.h"

#include <anyshape/layer.h>

namespace anyshape::nn {

// The user's name. ArgumentError for one with a slash, which would be a path.
void give_name(const AnyLayer& layer, const std::string& name);

template <class Options>
AnyLayer with_options(AnyLayer handle, const Options& options) {
  if (!options.name.empty()) give_name(handle, options.name);
  if (options.dtype) handle.layer()->state().dtype = options.dtype;
  return handle;
}

// A layer of ours from its options and, before them, its arguments; it remembers both.
template <class Own, class Options, class Arguments = NoArguments>
AnyLayer make_layer(const Options& options, const Arguments& arguments = {}) {
  const auto make = [&](const auto&... each) { return with_options(layer(Own(each..., options)), options); };
  AnyLayer handle = std::apply(make, detail::fields::references(arguments));
  detail::MadeAccess::set(handle, detail::made_from(handle.type(), arguments, options));
  return handle;
}

// A layer around another one, which is asked for its config when that of the outer one is.
template <class Own, class Options, class Inner>
AnyLayer make_wrapper(const Options& options, const Inner& inner, const char* field) {
  AnyLayer handle = with_options(layer(Own(inner, options)), options);
  detail::MadeAccess::set(handle, detail::made_from(handle.type(), options));
  handle.layer()->state().child_field = field;
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
