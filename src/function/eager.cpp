// Eager execution: every op call is a one-node graph with symbolic sizes, compiled once per op, dtypes and rank and found again by key. Views
// and joined tensors need no kernel.
#include "base/no_fork.h"
#include "function/compile.h"
#include "function/eager_call.h"
#include "function/random_state.h"
#include "graph/bind.h"
#include "shape/dim_node.h"
#include "tensor/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace anyshape::function_detail {
namespace {

Compiled compile_call(const BoundCall& call, const EagerCall& eager) {
  std::vector<Dim> symbols;
  for (size_t i = 0; i < eager.values.size(); ++i) symbols.push_back(make_symbol(fmt::format("n{}", i)));
  graph::Graph graph;
  graph.name = std::string(call.op.name);
  std::vector<graph::Value*> inputs;
  std::vector<TensorSpec> specs;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    Shape shape;
    for (int symbol : eager.symbol_of[k]) shape.push_back(symbol == one ? Dim(1) : symbols[symbol]);
    specs.push_back({call.inputs[k].dtype(), shape, {}});
    inputs.push_back(graph.add_input(specs.back()));
    inputs.back()->joined = eager.joined;
    for (int symbol : eager.stride_of[k]) inputs.back()->strides.push_back(symbol < 0 ? Dim(symbol == one ? 1 : 0) : symbols[symbol]);
  }
  size_t next = eager.values.size() - eager.attribute_sizes;
  const Attrs attrs = call.attrs.map_dims([&](const Dim&) { return symbols[next++]; });
  OpCall op_call(call.op, specs, attrs);
  const Specs outputs = call.op.shape(op_call);
  const graph::Node& node = *graph.add_node(call.op, inputs, attrs, outputs, op_call.made);
  graph.outputs.assign(node.outputs.begin(), node.outputs.end());
  return compile(graph, std::move(symbols));
}

class Eager final : public Interpreter {
 public:
  std::vector<Tensor> run(const BoundCall& call) override {
    if (call.op.view != nullptr) {
      if (Tensor seen = call.op.view(call.inputs, call.attrs, call.outputs[0]); seen.defined()) return {std::move(seen)};
    }
    if (const auto joined_axis = call.op.traits.joined_axis; joined_axis != nullptr) {
      if (std::optional<Tensor> whole = joined(call, joined_axis(call.attrs, call.outputs[0].shape.rank()))) return {std::move(*whole)};
    }
    if (call.op.layout == nullptr || std::ranges::all_of(call.inputs, [](const Tensor& input) { return is_contiguous(*input.impl()); })) {
      return run_as(call, 0);
    }
    std::vector<Tensor> inputs(call.inputs.begin(), call.inputs.end());
    Attrs attrs = call.attrs;
    const uint64_t readable = call.op.layout(inputs, attrs);
    return run_as({call.op, inputs, attrs, call.outputs, call.checks, call.made}, readable);
  }

 private:
  std::vector<Tensor> run_as(const BoundCall& call, uint64_t readable) {
    const NoFork whole;
    const EagerCall eager = describe(call, readable);
    const std::shared_ptr<const runtime::Executable> executable = find(call, eager);
    std::vector<Tensor> operands;
    operands.reserve(call.inputs.size());
    for (size_t k = 0; k < call.inputs.size(); ++k) operands.push_back(eager.in_place[k] ? call.inputs[k] : contiguous(call.inputs[k]));
    const runtime::RandomState random = executable->uses_random() ? next_random_state() : runtime::RandomState{};
    std::vector<Tensor> results = executable->run(operands, eager.values, random);
    if (call.made) return results;  // only the run knows their sizes
    for (size_t i = 0; i < results.size(); ++i) results[i] = with_shape(results[i], call.outputs[i].shape);
    return results;
  }

  using Sizes = std::array<int64_t, max_rank>;
  static std::span<const int64_t> sizes_of(const Shape& shape, Sizes& sizes) {
    for (int axis = 0; axis < shape.rank(); ++axis) sizes[axis] = shape[axis].value();
    return {sizes.data(), static_cast<size_t>(shape.rank())};
  }

  // Any number of tensors is a copy: a kernel for each number of them would take far longer to compile than to run.
  static std::optional<Tensor> joined(const BoundCall& call, int axis) {
    Sizes sizes{};
    return runtime::current_backend().join(call.inputs, sizes_of(call.outputs[0].shape, sizes), axis);
  }

  // Folded axes are given back.
  static Tensor with_shape(const Tensor& result, const Shape& shape) {
    Sizes sizes{};
    return reshape_view(result, sizes_of(shape, sizes));
  }

  std::shared_ptr<const runtime::Executable> find(const BoundCall& call, const EagerCall& eager) {
    {
      std::shared_lock lock(mutex_);
      if (auto found = kernels_.find(eager.key); found != kernels_.end()) return found->second;
    }
    std::shared_ptr<const runtime::Executable> made = compile_call(call, eager).executable;
    std::unique_lock lock(mutex_);
    return kernels_.emplace(eager.key, std::move(made)).first->second;
  }

  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const runtime::Executable>> kernels_;
};

// Lives as long as the process: eager calls may come from the destructors of static objects.
[[maybe_unused]] const bool registered = [] {
  static Eager& eager = *new Eager;
  set_eager_interpreter(eager);
  return true;
}();

}  // namespace
}  // namespace anyshape::function_detail
