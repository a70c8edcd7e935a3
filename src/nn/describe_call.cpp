// A trace for its result's spec alone.
#include "nn/describe_call.h"

#include "base/no_fork.h"
#include "base/thread_context.h"
#include "function/tracer.h"
#include "graph/layer_path.h"
#include "nn/layer_state.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"
#include "tensor/partition.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace anyshape::nn {
namespace {

// Any value will do where nothing depends on it. Rules that hold for 1 only do not hold for this one, windows of images fit, and much divides it.
constexpr int64_t plausible_size = 240;

Bindings plausible_sizes(std::span<const TensorSpec> specs) {
  Bindings values;
  for (const TensorSpec& spec : specs) {
    for (const Dim& size : spec.shape) {
      for_each_symbol(size, [&](const Symbol& symbol) {
        values.set(symbol.id, std::clamp<int64_t>(plausible_size * symbol.options.multiple_of, symbol.options.min, symbol.options.max));
      });
    }
  }
  return values;
}

// A ragged input enters a trace as values and splits.
class Arguments {
 public:
  explicit Arguments(std::span<const TensorSpec> inputs) : inputs_(inputs.begin(), inputs.end()) {
    for (const TensorSpec& input : inputs_) {
      if (input.shape.rank() < 2 || !input.shape[1].is_ragged()) {
        specs_.push_back(input);
        continue;
      }
      Shape values{dim("total")};
      for (int axis = 2; axis < input.shape.rank(); ++axis) values.push_back(input.shape[axis]);
      specs_.push_back({input.dtype, values, {}});
      specs_.push_back({Dtype::i64, {input.shape[0] + 1}, {}});
    }
  }

  const std::vector<TensorSpec>& specs() const { return specs_; }

  std::vector<Tensor> tensors(std::span<const Tensor> traced) {
    std::vector<Tensor> result;
    size_t next = 0;
    for (const TensorSpec& input : inputs_) {
      const Tensor& values = traced[next++];
      if (input.shape.rank() < 2 || !input.shape[1].is_ragged()) {
        result.push_back(values);
      } else {
        result.push_back(make_ragged(values, partition_of(input, traced[next++], values.shape()[0])));
      }
    }
    return result;
  }

  // The spec of a result, its rows under the name they came in with.
  TensorSpec spec_of(const Tensor& result) const {
    TensorSpec spec{result.dtype(), result.shape(), {}};
    for (const auto& [axis, partition] : rows_) {
      if (result.is_ragged() && as_ragged(result)->partition == partition) spec.shape[1] = axis;
    }
    return spec;
  }

 private:
  // Inputs along one ragged axis have the same rows.
  std::shared_ptr<const Partition> partition_of(const TensorSpec& input, const Tensor& splits, const Dim& total) {
    for (const auto& [axis, partition] : rows_) {
      if (axis.same_as(input.shape[1])) return partition;
    }
    rows_.emplace_back(input.shape[1], make_traced_partition(splits, input.shape[0], total, 0, std::nullopt, "time"));
    return rows_.back().second;
  }

  std::vector<TensorSpec> inputs_, specs_;
  std::vector<std::pair<Dim, std::shared_ptr<const Partition>>> rows_;
};

}  // namespace

// A call that is described: its arguments and, where they are wanted, the calls inside. One inside another notes for the other.
struct Description {
  explicit Description(std::span<const TensorSpec> inputs) : arguments(inputs), outer(std::exchange(this_thread.description, this)) {
    if (outer != nullptr) noting = outer->noting;
  }
  ~Description() { this_thread.description = outer; }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  function_detail::Trace run(const std::string& name, const std::function<FunctionResults(std::span<const Tensor>)>& body) {
    return function_detail::Tracer(name, arguments.specs(), plausible_sizes(arguments.specs())).run(body);
  }

  Arguments arguments;
  std::vector<DescribedCall> calls;
  Description* noting = nullptr;  // takes the calls; null: nobody does
  Description* outer;
};

void note_results(const AnyLayer& layer, std::span<const Tensor> results) {
  if (this_thread.description == nullptr || this_thread.description->noting == nullptr) return;
  Description& noting = *this_thread.description->noting;
  DescribedCall& call = noting.calls.emplace_back(DescribedCall{.layer = layer.layer().get()});
  for (const Tensor& result : results) call.results.push_back(noting.arguments.spec_of(result));
}

// Whether it leaves out more than sizes that are too small.
static bool names_size(const graph::Check& check) {
  return check.retrace || (check.check.relation != Relation::Less && check.check.relation != Relation::LessEqual);
}

DescribedCalls described_calls(const AnyLayer& layer, std::span<const TensorSpec> inputs) {
  Description description(inputs);
  description.noting = &description;
  const function_detail::Trace trace = description.run(layer.name(), [&](std::span<const Tensor> traced) {
    FunctionResults results;
    for (const Tensor& output : layer.outputs(description.arguments.tensors(traced)).tensors()) results.tensors.push_back(output.values());
    return results;
  });
  return {.calls = std::move(description.calls),
          .is_general = trace.graph != nullptr && std::ranges::none_of(trace.graph->checks, names_size)};
}

std::vector<TensorSpec> result_specs(const AnyLayer& layer, std::span<const TensorSpec> inputs, LayerCallOptions options) {
  Description description(inputs);
  std::vector<TensorSpec> specs;
  description.run(layer.name(), [&](std::span<const Tensor> traced) {
    FunctionResults results;
    specs.clear();  // a branch on a value runs the call again
    for (const Tensor& result : layer.outputs(description.arguments.tensors(traced), options).tensors()) {
      specs.push_back(description.arguments.spec_of(result));
      results.tensors.push_back(result.values());
    }
    return results;
  });
  return specs;
}

bool is_describing() { return this_thread.description != nullptr; }

namespace {

// The symbols of open sizes: those of rows of steps, and of images and volumes.
struct OpenSymbols {
  std::vector<Dim> steps = {dim("batch"), dim("time")}, image, volume;
  OpenSymbols() {
    while (static_cast<int>(steps.size()) < max_rank) steps.push_back(dim(fmt::format("size{}", steps.size())));
    const Dim depth = dim("depth"), height = dim("height"), width = dim("width");
    image = {steps[0], height, width, steps[3]};
    volume = {steps[0], depth, height, width, steps[4]};
  }

  // Images have an open height and width, and a number of channels.
  const std::vector<Dim>& of(const Shape& shape) const {
    const int axes = shape.rank() - 2;
    if ((axes != 2 && axes != 3) || !shape[-1].is_constant()) return steps;
    for (int axis = 1; axis <= axes; ++axis) {
      if (!is_any(shape[axis], axis)) return steps;
    }
    return axes == 2 ? image : volume;
  }
  bool is_any(const Dim& size, int axis) const {
    const auto number = static_cast<size_t>(axis);
    const auto has = [&](const std::vector<Dim>& symbols) { return number < symbols.size() && size.same_as(symbols[number]); };
    return size.same_as(dynamic) || has(steps) || has(image) || has(volume);
  }
};

const OpenSymbols& open_symbols() {
  const NoFork whole;  // a child would wait for what another thread was making
  static const OpenSymbols symbols;
  return symbols;
}

}  // namespace

Shape with_open_sizes(const Shape& shape) {
  const std::vector<Dim>& symbols = open_symbols().of(shape);
  Shape result;
  for (int axis = 0; axis < shape.rank(); ++axis)
    result.push_back(shape[axis].same_as(dynamic) ? symbols[static_cast<size_t>(axis)] : shape[axis]);
  return result;
}

bool is_open_size(const Dim& size, int axis) { return open_symbols().is_any(size, axis); }

void require_known_size(const Layer& layer, const std::string& weight, const Dim& size) {
  if (size.is_constant() || (!is_describing() && function_detail::Tracer::is_active() && !size.is_ragged())) return;
  throw ShapeError(
      fmt::format("layer {}: weight \"{}\" needs the size {} of its input, which is open; expected a number there. Give it in build() "
                  "or input(), or let the first batch build the model.{}",
                  type_of(layer), weight, to_string(size), current_place()));
}

}  // namespace anyshape::nn
