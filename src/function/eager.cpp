// Eager execution: every op call is a one-node graph with symbolic sizes, compiled once per op, dtypes and rank and found again by key.
// Elementwise calls are first folded to the fewest axes, so that one kernel serves every shape.
#include "function/compile.h"
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

// The call as a kernel sees it: operands with folded shapes, sizes and strides as the values of symbols.
struct EagerCall {
  std::string key;
  std::vector<std::vector<int>> symbol_of;  // per operand and axis: its symbol, or `one`
  std::vector<std::vector<int>> stride_of;  // likewise; nothing for an operand that is row-major
  std::vector<int64_t> values;              // of the symbols; those of the attributes' sizes come last
  size_t attribute_sizes = 0;
  bool takes_strides = false;
};
constexpr int one = -1, zero = -2;  // constants among the symbols

template <class T>
void put(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Neighbouring axes that every operand walks in the same way, as one.
struct FoldedAxis {
  int64_t extent = 1;
  uint64_t repeated = 0;         // bit k where operand k has one element along it
  std::vector<int64_t> strides;  // per operand
};

FoldedAxis axis_of(const BoundCall& call, int axis) {
  const Shape& shape = call.outputs[0].shape;
  FoldedAxis result{.extent = shape[axis].value(), .strides = std::vector<int64_t>(call.inputs.size())};
  uint64_t whole = 0, still = 0;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const TensorImpl& input = *call.inputs[k].impl();
    const int own = axis - (shape.rank() - input.rank);
    if (own < 0 || input.sizes[own] != result.extent) {
      result.repeated |= uint64_t{1} << k;
    } else {
      whole |= uint64_t{1} << k;
      result.strides[k] = input.strides[own];
      if (input.strides[own] == 0) still |= uint64_t{1} << k;
    }
  }
  // A stride of 0 is one element, too, as long as another operand gives the axis its size.
  if (still != whole) result.repeated |= still;
  return result;
}

bool walks_on(const FoldedAxis& outer, const FoldedAxis& inner) {
  if (outer.repeated != inner.repeated) return false;
  for (size_t k = 0; k < inner.strides.size(); ++k) {
    if ((inner.repeated >> k & 1) == 0 && outer.strides[k] != inner.strides[k] * inner.extent) return false;
  }
  return true;
}

bool is_row_major(std::span<const FoldedAxis> axes, size_t operand) {
  int64_t stride = 1;
  for (size_t axis = axes.size(); axis-- > 0;) {
    if ((axes[axis].repeated >> operand & 1) != 0) continue;
    if (axes[axis].strides[operand] != stride) return false;
    stride *= axes[axis].extent;
  }
  return true;
}

// Joins neighbouring axes and drops those of size 1. What is left of an operand's strides are symbols, but for those of the innermost axis
// that decide how it is read: 1 is a vector load, 0 one element for all lanes.
void fold_axes(const BoundCall& call, EagerCall& eager) {
  std::vector<FoldedAxis> axes;
  bool is_empty = false;  // then no stride matters
  for (int axis = 0; axis < call.outputs[0].shape.rank(); ++axis) {
    FoldedAxis next = axis_of(call, axis);
    if (next.extent == 1) continue;
    is_empty = is_empty || next.extent == 0;
    if (!axes.empty() && walks_on(axes.back(), next)) {
      next.extent *= axes.back().extent;
      axes.back() = std::move(next);
    } else {
      axes.push_back(std::move(next));
    }
  }
  put(eager.key, axes.size());
  for (const FoldedAxis& axis : axes) {
    put(eager.key, axis.repeated);
    eager.values.push_back(axis.extent);
  }
  eager.symbol_of.resize(call.inputs.size());
  eager.stride_of.resize(call.inputs.size());
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const bool strided = !is_empty && !is_row_major(axes, k);
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const bool repeated = (axes[axis].repeated >> k & 1) != 0, innermost = axis + 1 == axes.size();
      eager.symbol_of[k].push_back(repeated ? one : static_cast<int>(axis));
      if (!strided) continue;
      const int64_t stride = axes[axis].strides[k];
      const bool is_constant = repeated || (innermost && (stride == 0 || stride == 1));
      eager.stride_of[k].push_back(!is_constant ? static_cast<int>(eager.values.size()) : !repeated && stride == 1 ? one : zero);
      if (!is_constant) eager.values.push_back(stride);
    }
    put(eager.key, !strided ? 0 : std::min(eager.stride_of[k].back(), 0) - 1);
  }
  eager.takes_strides = true;
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
  put(eager.key, reinterpret_cast<uintptr_t>(&call.op));
  for (const Tensor& input : call.inputs) put(eager.key, input.impl()->dtype);
  put(eager.key, ScopedInterpretation::active());
  const bool folds = call.op.kind == OpKind::Elementwise && call.op.element != nullptr && !call.op.is_alias && call.inputs.size() <= 64;
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
    for (int symbol : eager.symbol_of[k]) shape.push_back(symbol == one ? Dim(1) : symbols[symbol]);
    specs.push_back({call.inputs[k].dtype(), shape, {}});
    inputs.push_back(graph.add_input(specs.back()));
    if (!eager.takes_strides) continue;
    for (int symbol : eager.stride_of[k]) inputs.back()->strides.push_back(symbol < 0 ? Dim(symbol == one ? 1 : 0) : symbols[symbol]);
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
    if (call.op.view != nullptr) {
      if (Tensor seen = call.op.view(call.inputs, call.attrs, call.outputs[0]); seen.defined()) return {std::move(seen)};
    }
    const EagerCall eager = describe(call);
    const std::shared_ptr<const runtime::Executable> executable = find(call, eager);
    std::vector<Tensor> operands;
    operands.reserve(call.inputs.size());
    for (const Tensor& input : call.inputs) operands.push_back(eager.takes_strides ? input : contiguous(input));
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
