// Eager execution: every op call is a one-node graph with symbolic sizes, compiled once per op, dtypes and rank and found again by key.
// Elementwise calls are first folded to the fewest axes, so that one kernel serves every shape.
#include "function/compile.h"
#include "function/random_state.h"
#include "graph/bind.h"
#include "shape/dim_node.h"
#include "tensor/view.h"

#include <fmt/format.h>

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace anyshape::function_detail {
namespace {

// The call as a kernel sees it: operands with folded shapes, sizes as the values of symbols.
struct EagerCall {
  std::string key;
  std::vector<std::vector<int>> symbol_of;  // per operand and axis: its symbol, or -1 for the constant 1
  std::vector<int64_t> values;              // of the symbols; those of the attributes' sizes come last
  size_t attribute_sizes = 0;
};

template <class T>
void put(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Joins neighbouring axes that every operand walks in the same way. Axes of size 1 vanish.
void fold_axes(const BoundCall& call, EagerCall& eager) {
  const Shape& shape = call.outputs[0].shape;
  const int rank = shape.rank();
  std::vector<uint64_t> repeats;  // per folded axis: bit k where operand k is repeated along it
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t extent = shape[axis].value();
    if (extent == 1) continue;
    uint64_t repeated = 0;
    for (size_t k = 0; k < call.inputs.size(); ++k) {
      const TensorImpl& input = *call.inputs[k].impl();
      const int own = axis - (rank - input.rank);
      if (own < 0 || input.sizes[own] != extent) repeated |= uint64_t{1} << k;
    }
    if (!repeats.empty() && repeats.back() == repeated) {
      eager.values.back() *= extent;
    } else {
      repeats.push_back(repeated);
      eager.values.push_back(extent);
    }
  }
  eager.symbol_of.resize(call.inputs.size());
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    for (size_t axis = 0; axis < repeats.size(); ++axis)
      eager.symbol_of[k].push_back((repeats[axis] >> k & 1) != 0 ? -1 : static_cast<int>(axis));
  }
  for (uint64_t repeated : repeats) put(eager.key, repeated);
}

void keep_axes(const BoundCall& call, EagerCall& eager) {
  for (const Tensor& input : call.inputs) {
    std::vector<int>& symbols = eager.symbol_of.emplace_back();
    for (int64_t size : input.impl()->extents()) {
      symbols.push_back(static_cast<int>(eager.values.size()));
      eager.values.push_back(size);
    }
    put(eager.key, input.impl()->rank);
  }
}

EagerCall describe(const BoundCall& call) {
  EagerCall eager;
  put(eager.key, &call.op);
  for (const Tensor& input : call.inputs) put(eager.key, input.impl()->dtype);
  put(eager.key, ScopedInterpretation::active());
  const bool folds = call.op.kind == OpKind::Elementwise && call.inputs.size() <= 64;
  folds ? fold_axes(call, eager) : keep_axes(call, eager);
  put(eager.key, '|');
  const size_t before = eager.values.size();
  call.attrs.append_key_without_sizes(eager.key, eager.values);
  eager.attribute_sizes = eager.values.size() - before;
  return eager;
}

Compiled compile_call(const BoundCall& call, const EagerCall& eager) {
  std::vector<Dim> symbols;
  for (size_t i = 0; i < eager.values.size(); ++i) symbols.push_back(make_symbol(fmt::format("n{}", i)));
  graph::Graph graph;
  graph.name = std::string(call.op.name);
  std::vector<graph::Value*> inputs;
  std::vector<TensorSpec> specs;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    Shape shape;
    for (int symbol : eager.symbol_of[k]) shape.push_back(symbol < 0 ? Dim(1) : symbols[symbol]);
    specs.push_back({call.inputs[k].dtype(), shape, {}});
    inputs.push_back(graph.add_input(specs.back()));
  }
  size_t next = eager.values.size() - eager.attribute_sizes;
  const Attrs attrs = call.attrs.map_dims([&](const Dim&) { return symbols[next++]; });
  OpCall op_call(call.op, specs, attrs);
  graph.outputs = graph.add_node(call.op, inputs, attrs, call.op.shape(op_call))->outputs;
  return compile(graph, std::move(symbols));
}

class Eager final : public Interpreter {
 public:
  std::vector<Tensor> run(const BoundCall& call) override {
    const EagerCall eager = describe(call);
    const std::shared_ptr<const runtime::Executable> executable = find(call, eager);
    std::vector<Tensor> operands;
    operands.reserve(call.inputs.size());
    for (const Tensor& input : call.inputs) operands.push_back(contiguous(input));
    const runtime::RandomState random = executable->uses_random() ? next_random_state() : runtime::RandomState{};
    std::vector<Tensor> results = executable->run(operands, eager.values, random);
    for (size_t i = 0; i < results.size(); ++i) results[i] = with_shape(results[i], call.outputs[i].shape);
    return results;
  }

 private:
  // Folded axes are given back.
  static Tensor with_shape(const Tensor& result, const Shape& shape) {
    std::array<int64_t, max_rank> sizes{};
    for (int axis = 0; axis < shape.rank(); ++axis) sizes[axis] = shape[axis].value();
    return reshape_view(result, {sizes.data(), static_cast<size_t>(shape.rank())});
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
