// Graphs op by op: their sizes become those of the tensors at hand, their random numbers are drawn anew.
#include "saved/replay_call.h"

#include "function/function_state.h"
#include "graph/bind.h"
#include "graph/regions.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"
#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace anyshape::saved {
namespace {

using function_detail::RaggedResults;
using function_detail::SavedTrace;
using function_detail::Signature;

RegionGraph with_sizes(const graph::Graph& region, const Substitution& sizes);

Attrs with_sizes(const Attrs& attrs, const Substitution& sizes) {
  class Regions final : public AttrVisitor {
   public:
    using AttrVisitor::operator();
    explicit Regions(const Substitution& sizes) : sizes_(sizes) {}
    void operator()(std::string_view, RegionGraph& field) override { field = with_sizes(*field, sizes_); }

   private:
    const Substitution& sizes_;
  } regions(sizes);
  return attrs.map_dims([&](const Dim& size) { return substitute(size, sizes); }).rewritten(regions);
}

TensorSpec with_sizes(const TensorSpec& spec, const Substitution& sizes) { return {spec.dtype, substitute(spec.shape, sizes), spec.name}; }

RegionGraph with_sizes(const graph::Graph& region, const Substitution& sizes) {
  auto copy = std::make_shared<graph::Graph>();
  std::unordered_map<const graph::Value*, graph::Value*> values;
  copy->name = region.name;
  for (const graph::Value* input : region.inputs()) values[input] = copy->add_input(with_sizes(input->spec, sizes));
  for (const graph::Node* node : region.nodes()) {
    std::vector<graph::Value*> inputs;
    std::vector<TensorSpec> outputs;
    for (const graph::Value* input : node->inputs) inputs.push_back(values.at(input));
    for (const graph::Value* output : node->outputs) outputs.push_back(with_sizes(output->spec, sizes));
    const graph::Node* const made = copy->add_node(*node->op, std::move(inputs), with_sizes(node->attrs, sizes), outputs);
    for (size_t i = 0; i < outputs.size(); ++i) values[node->outputs[i]] = made->outputs[i];
  }
  for (const graph::Value* output : region.outputs) copy->outputs.push_back(values.at(output));
  copy->checks = region.checks;
  for (graph::Check& check : copy->checks) {
    check.check.a = substitute(check.check.a, sizes);
    check.check.b = substitute(check.check.b, sizes);
  }
  return copy;
}

// Inside a trace an open answer becomes a check of that trace.
bool holds(const SizeCheck& check, const Substitution& sizes) {
  const Dim a = substitute(check.a, sizes), b = substitute(check.b, sizes);
  switch (check.relation) {
    case Relation::Equal: return a == b;
    case Relation::NotEqual: return !(a == b);
    case Relation::Less: return a < b;
    case Relation::LessEqual: return a <= b;
    case Relation::Broadcastable: return a == b || a == 1 || b == 1;
  }
  return false;
}

// What the symbols of a trace are for these tensors; nothing where sizes that the trace knows are others.
std::optional<Substitution> sizes_of(const SavedTrace& saved, std::span<const Tensor> tensors) {
  Substitution sizes;
  std::vector<std::pair<Dim, Dim>> pairs;  // a size of the trace, and of the tensors
  const Signature::Parts parts = saved.signature.parts();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Shape &shape = parts.specs[i].shape, given = tensors[i].shape();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (!shape[axis].is_ragged()) pairs.emplace_back(shape[axis], given[axis]);
    }
  }
  for (const Signature::Parts::Ragged& rows : parts.ragged) {
    const Partition& partition = *as_ragged(tensors[rows.argument])->partition;
    pairs.emplace_back(rows.total, partition.total);
    pairs.emplace_back(rows.shortest, partition.shortest);
    pairs.emplace_back(rows.longest, partition.longest.value_or(partition.total));
  }
  for (const auto& [known, given] : pairs) {
    if (const Symbol* const symbol = as_symbol(known)) sizes.emplace(symbol->id, given);
  }
  for (const auto& [known, given] : pairs) {
    if (!(substitute(known, sizes) == given)) return std::nullopt;
  }
  const auto is_met = [&](const graph::Check& check) { return !check.retrace || holds(check.check, sizes); };
  return std::ranges::all_of(saved.trace.graph->checks, is_met) ? std::optional(std::move(sizes)) : std::nullopt;
}

class Replaying {
 public:
  Replaying(const detail::SavedFunction& function, const SavedTrace& saved, Substitution sizes)
      : function_(function), saved_(saved), graph_(*saved.trace.graph), sizes_(std::move(sizes)) {}

  std::vector<Tensor> run(std::span<const Tensor> tensors) {
    const function_detail::Trace& trace = saved_.trace;
    std::vector<Tensor> inputs;
    function_detail::append_dense_parts(tensors, inputs);
    for (const size_t wide : trace.wide) inputs.push_back(cast(inputs[wide], Dtype::f64));
    inputs.insert(inputs.end(), trace.captures.begin(), trace.captures.end());
    for (const auto& variable : trace.variables) inputs.push_back(handle(variable).read());
    for (size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs()[i]] = inputs[i];
    for (const graph::Node* node : graph_.nodes()) run(*node);
    for (size_t i = 0; i < trace.assigned.size(); ++i) handle(trace.assigned[i]).assign(values_.at(graph_.outputs[trace.results + i]));
    return results(tensors);
  }

 private:
  void run(const graph::Node& node) {
    std::vector<Tensor> operands;
    for (const graph::Value* input : node.inputs) operands.push_back(values_.at(input));
    Attrs attrs = with_sizes(node.attrs, sizes_);
    if (node.op->kind == OpKind::Random) attrs = attrs.with_stream(no_stream);
    if (node.op->saving != nullptr && current_interpreter().records()) attrs = node.op->saving(attrs);
    const std::vector<Tensor> outputs = bind_all(*node.op, operands, std::move(attrs));
    for (size_t i = 0; i < node.outputs.size(); ++i) values_[node.outputs[i]] = outputs[i];
    if (node.made) bind_made(node, outputs);
  }

  void bind_made(const graph::Node& node, std::span<const Tensor> outputs) {
    const Symbol& made = *as_symbol(node.made->symbol);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Shape& shape = node.outputs[i]->spec.shape;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis].same_as(node.made->symbol)) sizes_.emplace(made.id, outputs[i].shape()[axis]);
      }
    }
    if (!sizes_.contains(made.id))
      throw TraceError(fmt::format("function \"{}\": the size {} stands in no result of {}; expected it as the size of an axis.",
                                   graph_.name, made.name, node.op->name));
  }

  // Ragged results of splits that are computed have no values inside a trace.
  std::vector<Tensor> results(std::span<const Tensor> arguments) {
    std::vector<Tensor> results;
    size_t next = 0;
    for (const RaggedResults::Result& each : saved_.trace.ragged.results()) {
      Tensor values = values_.at(graph_.outputs[next++]);
      if (!each.is_ragged) {
        results.push_back(std::move(values));
        continue;
      }
      std::shared_ptr<const Partition> partition = each.held;
      if (each.argument) partition = as_ragged(arguments[*each.argument])->partition;
      if (each.brings_splits()) {
        const Tensor& splits = values_.at(graph_.outputs[next++]);
        partition = is_traced(splits) ? make_traced_partition(splits, splits.shape()[0] - 1, values.shape()[0], 0, std::nullopt,
                                                              as_ragged_axis(each.shape[1])->name)
                                      : make_partition(splits, "function");
      }
      if (values.rank() == 0 || !(values.shape()[0] == partition->total)) {
        throw DataError(fmt::format("function \"{}\": result {} is {}; expected as many values as its rows have, {}.", graph_.name,
                                    results.size(), describe(values), to_string(partition->total)));
      }
      results.push_back(make_ragged(values, std::move(partition)));
    }
    return results;
  }

  const Variable& handle(const std::shared_ptr<VariableState>& state) const {
    return *std::ranges::find_if(function_.variables, [&](const Variable& each) { return each.state() == state; });
  }

  const detail::SavedFunction& function_;
  const SavedTrace& saved_;
  const graph::Graph& graph_;
  Substitution sizes_;
  std::unordered_map<const graph::Value*, Tensor> values_;
};

}  // namespace

detail::FunctionResults ReplayCall::run(std::span<const Tensor> tensors) const {
  for (const SavedTrace& saved : *function_.traces) {
    if (saved.key != key_ || !saved.signature.fits_kinds(tensors)) continue;
    if (std::optional<Substitution> sizes = sizes_of(saved, tensors)) return {Replaying(function_, saved, std::move(*sizes)).run(tensors)};
  }
  std::string given;
  for (const Tensor& tensor : tensors) given += (given.empty() ? "" : ", ") + anyshape::describe(tensor);
  throw SignatureError(
      fmt::format("function \"{}\": no trace of its file fits the arguments ({}); expected those of one of them. The file has:{}",
                  function_.core->state().options.name, given, function_detail::list_of(*function_.traces)));
}

detail::structure::Description ReplayCall::describe() const {
  for (const SavedTrace& saved : *function_.traces) {
    if (saved.key == key_) return {saved.arguments, saved.values};
  }
  return {function_.traces->front().arguments, {}};
}

}  // namespace anyshape::saved
