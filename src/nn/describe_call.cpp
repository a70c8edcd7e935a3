// A trace for its result's spec alone.
#include "nn/describe_call.h"

#include "function/tracer.h"
#include "nn/layer_state.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::nn {
namespace {

thread_local int descriptions = 0;

struct Describing {
  Describing() { ++descriptions; }
  ~Describing() { --descriptions; }
  Describing(const Describing&) = delete;
  Describing& operator=(const Describing&) = delete;
};

// Any value will do where nothing depends on it; small ones keep size rules apart that hold for 1 only.
Bindings plausible_sizes(std::span<const TensorSpec> specs) {
  Bindings values;
  for (const TensorSpec& spec : specs) {
    for (const Dim& size : spec.shape) {
      for_each_symbol(size, [&](const Symbol& symbol) {
        values.set(symbol.id, std::clamp<int64_t>(3 * symbol.options.multiple_of, symbol.options.min, symbol.options.max));
      });
    }
  }
  return values;
}

}  // namespace

TensorSpec result_spec(const AnyLayer& layer, std::span<const TensorSpec> inputs, LayerCallOptions options) {
  const Describing describing;
  TensorSpec spec;
  function_detail::Tracer(layer.name(), inputs, plausible_sizes(inputs)).run([&](std::span<const Tensor> tensors) {
    const Tensor result = layer(std::vector<Tensor>(tensors.begin(), tensors.end()), options);
    spec = {result.dtype(), result.shape(), {}};
    return FunctionResults{.tensors = {result}};
  });
  return spec;
}

void require_known_size(const Layer& layer, const std::string& weight, const Dim& size) {
  if (descriptions == 0 || size.is_constant()) return;
  throw ShapeError(
      fmt::format("layer \"{}\": weight \"{}\" needs the size {} of its input, which is open; expected a number there. Give it in build() "
                  "or input(), or let the "
                  "first batch build the model.",
                  layer.state().name, weight, to_string(size)));
}

}  // namespace anyshape::nn
