// lower(): walks the planned kernels in order and writes one after the other.
#include "lower/lower.h"

#include "graph/text.h"
#include "lower/lowering.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace anyshape::lower {

using graph::Graph;
using graph::Node;

namespace {

std::string label_of(const graph::Value& value) {
  if (value.node != nullptr) return graph::label(*value.node);
  return fmt::format("%{}{}{}", value.id, value.spec.name.empty() ? "" : " ", value.spec.name);
}

ProgramBuffer buffer_for(const graph::Value& value, BufferKind kind, int argument = -1) {
  ProgramBuffer buffer{kind, argument, value.spec.dtype, value.spec.shape.count()};
  buffer.value = label_of(value);
  return buffer;
}

// The elements of an output; a size that the node itself makes counts with what it cannot exceed.
Dim capacity(const Node& node, const graph::Value& output) {
  if (!node.made) return output.spec.shape.count();
  std::optional<MadeSize> made;
  const Specs specs = graph::specs_by_rules(*node.op, graph::input_specs(node), node.attrs, nullptr, nullptr, &made);
  return substitute(specs[static_cast<size_t>(output.index)].shape, {{as_symbol(made->symbol)->id, made->bound}}).count();
}

}  // namespace

Lowering::Lowering(const Graph& graph, Shared& shared, std::span<const Update> updates)
    : graph_(graph),
      groups_(group(graph, shared.decisions, updates)),
      origins_(graph, updates, shared.around),
      shared_(shared),
      program_(shared.program),
      numbers_(graph),
      buffers_(graph, -1) {
  block_ = static_cast<int>(program_.blocks.size());
  program_.blocks.emplace_back();
  for (const Node* node : graph.nodes()) number(*node);
}

// Random ops draw by the stream that the trace gave them; by their number where it gave none.
void Lowering::number(const Node& node) {
  const bool is_random = node.op->kind == OpKind::Random;
  const int64_t stream = is_random ? node.attrs.stream() : no_stream;
  const int counted = is_random ? shared_.random_ops++ : shared_.ops++;
  numbers_[&node] = stream != no_stream ? static_cast<int>(stream) : counted;
  program_.uses_random = program_.uses_random || is_random;
}

void Lowering::run_whole() {
  program_.buffers.reserve(graph_.inputs().size() + groups_.kernels.size());
  program_.launches.reserve(groups_.kernels.size());
  program_.results.reserve(graph_.outputs.size());
  for (const graph::Value* input : graph_.inputs()) {
    buffers_[input] = add_buffer(buffer_for(*input, BufferKind::Argument, input->index));
  }
  lower_kernels();
  for (const graph::Value* output : graph_.outputs) {
    ProgramBuffer& buffer = program_.buffers[buffer_of(output)];
    if (buffer.kind == BufferKind::Temporary) buffer.kind = BufferKind::Result;
    program_.results.push_back({buffer_of(output), output->spec});
  }
}

void Lowering::lower_kernels() {
  for (const PlannedKernel& kernel : groups_.kernels) lower_kernel(kernel);
}

void Lowering::lower_kernel(const PlannedKernel& planned) {
  const Roots& roots = planned.roots;
  const Node& root = *roots[0];
  if (planned.kind == KernelKind::Rows) return lower_row_kernel(planned);
  if (!planned.epilogue.roots.empty()) return lower_product(planned);
  if (root.op->is_alias) {
    buffers_[root.outputs[0]] = buffer_of(root.inputs[0]);
    return;
  }
  for (const Node* each : roots) {
    for (const graph::Value* output : each->outputs) make_room(*each, *output);
  }
  if (root.op->kind == OpKind::Control) return lower_control(root);
  if (root.op->lower != nullptr) {
    lower_whole(planned);
    if (root.made) add_data_size(root);
    return;
  }
  GroupKernel kernel = write(planned);
  add_launch(std::move(kernel.launch), nodes_of(roots), kernel.indexed);
}

// A row's values under another shape are the same memory.
void Lowering::lower_row_kernel(const PlannedKernel& planned) {
  for (const Node* each : planned.roots) {
    const graph::Value* output = each->outputs[0];
    buffers_[output] = each->op->is_alias ? buffer_of(each->inputs[0]) : temporary_for(*output);
  }
  GroupKernel kernel = write(planned);
  add_launch(std::move(kernel.launch), nodes_of(planned.roots), kernel.indexed);
}

// Loops of a group, or those of an equal one over other buffers.
GroupKernel Lowering::write(const PlannedKernel& planned) {
  const KernelKey key = key_of(planned);
  if (std::optional<Launch> known = written_before(key, planned)) return {std::move(*known), {}};
  const KnownGroups::Before before = before_writing();
  const bool is_reduction = planned.roots[0]->op->reduce != nullptr;
  GroupKernel kernel = planned.kind == KernelKind::Rows ? lower_rows(planned, context())
                       : is_reduction                   ? lower_reduction(planned, context())
                                                        : lower_elementwise(planned, context());
  keep_written(key, planned, kernel.launch, before);
  return kernel;
}

KernelKey Lowering::key_of(const PlannedKernel& planned) {
  KernelKey key(shared_.groups.sizes(), groups_, [this](const graph::Value* value) { return buffers_.at(value); });
  key.add(planned);
  return key;
}

std::optional<Launch> Lowering::written_before(const KernelKey& key, const PlannedKernel& planned) {
  const WrittenKernel* const known = key.is_shared() ? shared_.groups.find(key) : nullptr;
  if (known == nullptr) return std::nullopt;
  std::vector<int> buffers = key.buffers();
  for (const WrittenKernel::Temporary& temporary : known->temporaries) buffers.push_back(new_temporary(temporary.dtype, temporary.count));
  Launch launch{known->kernel, {}, known->dims};
  for (const int number : known->buffers) launch.buffers.push_back(buffers[static_cast<size_t>(number)]);
  for (Decision decision : known->decisions) {
    decision.subject = graph::label(*planned.roots.back());
    shared_.decisions.push_back(std::move(decision));
  }
  return launch;
}

void Lowering::keep_written(const KernelKey& key, const PlannedKernel& planned, Launch& launch, const KnownGroups::Before& before) {
  if (!key.is_shared()) return;
  launch.kernel = shared_.kernels.known(std::move(launch.kernel));
  shared_.groups.add(key, launch, program_.buffers, shared_.decisions, before, graph::label(*planned.roots.back()));
}

// Roots and what is computed on the way to them, in the order of their numbers.
std::vector<const Node*> Lowering::nodes_of(const Roots& roots) const {
  InlineVector<const Node*, 16> found;  // in the order in which they are met: few, so that they are looked through
  const auto meet = [&](const Node* node) {
    if (std::ranges::find(found, node) == found.end()) found.push_back(node);
  };
  for (const Node* root : roots) meet(root);
  for (size_t i = 0; i < found.size(); ++i) {
    for (const graph::Value* input : found[i]->inputs) {
      if (input->node != nullptr && !groups_.in_memory.contains(input)) meet(input->node);
    }
  }
  std::ranges::sort(found, {}, [](const Node* node) { return node->outputs[0]->id; });
  const bool has_ops = std::ranges::any_of(found, [](const Node* node) { return node->op->kind != OpKind::Source; });
  std::vector<const Node*> nodes;  // numbers stand in the code, unless the kernel is there to make them
  for (const Node* node : found) {
    if (!has_ops || node->op->kind != OpKind::Source) nodes.push_back(node);
  }
  return nodes;
}

void Lowering::add_launch(Launch launch, std::span<const Node* const> nodes, std::span<const Node* const> indexed) {
  launch.kernel = shared_.kernels.known(std::move(launch.kernel));
  tell(launch.ops, launch.origin, nodes);
  for (int buffer : launch.buffers) touch(buffer);
  add_indexed(indexed);
  add_item(static_cast<int>(program_.launches.size()));
  program_.launches.push_back(std::move(launch));
}

// Of what the nodes compute together.
void Lowering::tell(std::vector<std::string>& ops, Origin& origin, std::span<const Node* const> nodes) const {
  for (const Node* node : nodes) ops.push_back(graph::label(*node));
  origin = origins_.of(nodes);
}

void Lowering::add_indexed(std::span<const Node* const> indexed) {
  for (const Node* node : indexed) {
    const std::vector<TensorSpec> specs = graph::input_specs(*node);
    const OpCall call(*node->op, specs, node->attrs);
    IndexRule rule = node->op->splits != nullptr ? IndexRule{{node->op->splits(call).total}} : node->op->index_rule(call);
    block_ref().indexed_ops.push_back({numbers_.at(node), std::string(node->op->name), std::move(rule), node->place});
  }
}

GroupContext Lowering::context() {
  return {groups_, [this](const graph::Value* value) { return buffer_of(value); }, [this](const Node* node) { return numbers_.at(node); },
          [this](Dtype dtype, const Dim& count) { return new_temporary(dtype, count); }, shared_.decisions};
}

int Lowering::add_buffer(ProgramBuffer buffer) {
  buffer.block = block_;
  program_.buffers.push_back(std::move(buffer));
  return static_cast<int>(program_.buffers.size()) - 1;
}

int Lowering::temporary_for(const graph::Value& value) { return add_buffer(buffer_for(value, BufferKind::Temporary)); }

int Lowering::lend_input(size_t input) {
  const graph::Value* value = graph_.inputs()[input];
  return buffers_[value] = add_buffer(buffer_for(*value, BufferKind::Lent));
}

int Lowering::buffer_of(const graph::Value* value) const {
  const int buffer = buffers_.at(value);
  if (buffer < 0) throw InternalError(fmt::format("lower: %{} is read before it is in memory", value->id));
  return buffer;
}

// Of its own, and of the larger values that it is a part of: those are in memory when the first part is.
void Lowering::make_room(const Node& node, const graph::Value& output) {
  if (const auto found = groups_.parts_of.find(&output); found != groups_.parts_of.end()) {
    for (const PartOf& part : found->second) {
      if (buffers_.at(part.whole) < 0) buffers_[part.whole] = temporary_for(*part.whole);
    }
  }
  if (groups_.only_parts.contains(&output)) return;
  ProgramBuffer buffer = buffer_for(output, BufferKind::Temporary);
  buffer.count = capacity(node, output);
  buffers_[&output] = add_buffer(std::move(buffer));
}

// The item that comes next in the buffer's own block uses it.
void Lowering::touch(int number) {
  ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(number)];
  const Block& block = program_.blocks[static_cast<size_t>(buffer.block)];
  const int item = static_cast<int>(block.items.size());
  if (buffer.first_item < 0) buffer.first_item = item;
  buffer.last_item = item;
}

Program lower(const Graph& graph, Decisions& decisions, std::span<const Update> updates) {
  Shared shared{.program = {}, .decisions = decisions};
  shared.program.name = graph.name;
  Lowering(graph, shared, updates).run_whole();
  return std::move(shared.program);
}

}  // namespace anyshape::lower
