// lower(): walks the roots in order and writes one kernel each.
#include "lower/lower.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/split_rows.h"
#include "lower/whole_call.h"
#include "ops/all_ops.h"
#include "ops/control/cond.h"
#include "ops/control/scan.h"
#include "ops/control/while_loop.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

namespace anyshape::lower {
namespace {

using graph::Graph;
using graph::Node;

// What all blocks of a program share.
struct Shared {
  Program program;
  Decisions& decisions;
  int random_ops = 0;
  int ops = 0;
};

// One graph: the program's own, or a region in the block around it.
class Lowering {
 public:
  Lowering(const Graph& graph, Shared& shared, std::span<const Update> updates = {})
      : graph_(graph), groups_(group(graph, shared.decisions, updates)), shared_(shared), program_(shared.program) {
    block_ = static_cast<int>(program_.blocks.size());
    program_.blocks.emplace_back();
    for (const Node* node : graph.nodes()) number(*node);
  }

  void run_whole() {
    for (const graph::Value* input : graph_.inputs()) {
      buffers_[input] = add_buffer(buffer_for(*input, BufferKind::Argument, input->index));
    }
    lower_roots();
    for (const graph::Value* output : graph_.outputs) {
      ProgramBuffer& buffer = program_.buffers[buffer_of(output)];
      if (buffer.kind == BufferKind::Temporary) buffer.kind = BufferKind::Result;
      program_.results.push_back({buffer_of(output), output->spec});
    }
  }

  int block() const { return block_; }
  // A region's input that is a buffer from outside, and one that the control item lends.
  void bind_input(size_t input, int buffer) { buffers_[graph_.inputs()[input]] = buffer; }
  int lend_input(size_t input) {
    const graph::Value* value = graph_.inputs()[input];
    return buffers_[value] = add_buffer(buffer_for(*value, BufferKind::Lent));
  }
  void run_region() {
    lower_roots();
    block_ref().checks = graph_.checks;
    for (const graph::Value* output : graph_.outputs) {
      const int number = buffer_of(output);
      ProgramBuffer& buffer = program_.buffers[number];
      const bool own = buffer.kind == BufferKind::Temporary && buffer.block == block_;  // and not another output already
      if (own) buffer.kind = BufferKind::Lent;
      touch(number);
      block_ref().outputs.push_back({number, own, output->spec.shape.count()});
    }
  }

 private:
  // Random ops draw by the stream that the trace gave them; by their place where it gave none.
  void number(const Node& node) {
    const bool is_random = node.op->kind == OpKind::Random;
    const int64_t stream = is_random ? node.attrs.stream() : no_stream;
    const int place = is_random ? shared_.random_ops++ : shared_.ops++;
    numbers_[&node] = stream != no_stream ? static_cast<int>(stream) : place;
    program_.uses_random = program_.uses_random || is_random;
  }

  Block& block_ref() { return program_.blocks[static_cast<size_t>(block_)]; }

  int add_buffer(ProgramBuffer buffer) {
    buffer.block = block_;
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
  }
  int new_temporary(Dtype dtype, const Dim& count) { return add_buffer({BufferKind::Temporary, -1, dtype, count}); }
  static std::string label_of(const graph::Value& value) {
    if (value.node != nullptr) return graph::label(*value.node);
    return fmt::format("%{}{}{}", value.id, value.spec.name.empty() ? "" : " ", value.spec.name);
  }
  static ProgramBuffer buffer_for(const graph::Value& value, BufferKind kind, int argument = -1) {
    ProgramBuffer buffer{kind, argument, value.spec.dtype, value.spec.shape.count()};
    buffer.value = label_of(value);
    return buffer;
  }
  int temporary_for(const graph::Value& value) { return add_buffer(buffer_for(value, BufferKind::Temporary)); }
  int buffer_of(const graph::Value* value) const {
    const auto found = buffers_.find(value);
    if (found == buffers_.end()) throw InternalError(fmt::format("lower: %{} is read before it is in memory", value->id));
    return found->second;
  }
  GroupContext context() {
    return {groups_, [this](const graph::Value* value) { return buffer_of(value); }, [this](const Node* node) { return numbers_.at(node); },
            [this](Dtype dtype, const Dim& count) { return new_temporary(dtype, count); }};
  }

  void lower_roots() {
    for (const PlannedKernel& kernel : groups_.kernels) lower_kernel(kernel);
  }

  void lower_kernel(const PlannedKernel& planned) {
    const Roots& roots = planned.roots;
    const Node& root = *roots[0];
    if (planned.kind == KernelKind::Rows) return lower_row_kernel(roots);
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
      if (root.made) add_late_size(root);
      return;
    }
    GroupKernel kernel = root.op->reduce != nullptr ? lower_reduction(planned, context()) : lower_elementwise(planned, context());
    add_step(std::move(kernel.step), roots, kernel.indexed);
  }

  // Roots and what is computed on the way to them, in the order of their numbers.
  std::vector<std::string> ops_of(const Roots& roots) const {
    std::map<int, const Node*> found;
    std::function<void(const Node&)> visit = [&](const Node& node) {
      if (!found.emplace(node.outputs[0]->id, &node).second) return;
      for (const graph::Value* input : node.inputs) {
        if (input->node != nullptr && !groups_.in_memory.contains(input)) visit(*input->node);
      }
    };
    for (const Node* root : roots) visit(*root);
    std::vector<std::string> ops, numbers;  // numbers stand in the code, unless the kernel is there to make them
    for (const auto& [id, node] : found) (node->op->kind == OpKind::Source ? numbers : ops).push_back(graph::label(*node));
    return ops.empty() ? numbers : ops;
  }

  // A row's values under another shape are the same memory.
  void lower_row_kernel(const Roots& roots) {
    for (const Node* each : roots) {
      const graph::Value* output = each->outputs[0];
      buffers_[output] = each->op->is_alias ? buffer_of(each->inputs[0]) : temporary_for(*output);
    }
    GroupKernel kernel = lower_rows(roots, context());
    add_step(std::move(kernel.step), roots, kernel.indexed);
  }

  // A product and what follows it. Where a result takes the product's place, both have one buffer.
  void lower_product(const PlannedKernel& kernel) {
    const Node& product = *kernel.roots[0];
    const Epilogue& epilogue = kernel.epilogue;
    for (const Node* root : epilogue.roots) buffers_[root->outputs[0]] = temporary_for(*root->outputs[0]);
    const graph::Value* const result = product.outputs[0];
    buffers_[result] = epilogue.place != nullptr ? buffer_of(epilogue.place) : temporary_for(*result);
    for (const Node* alias : epilogue.aliases) buffers_[alias->outputs[0]] = buffer_of(alias->inputs[0]);
    lower_whole(kernel);
  }

  // Of its own, and of the larger values that it is a part of: those are in memory when the first part is.
  void make_room(const Node& node, const graph::Value& output) {
    if (const auto found = groups_.places.find(&output); found != groups_.places.end()) {
      for (const Place& place : found->second) {
        if (!buffers_.contains(place.whole)) buffers_[place.whole] = temporary_for(*place.whole);
      }
    }
    if (groups_.only_placed.contains(&output)) return;
    ProgramBuffer buffer = buffer_for(output, BufferKind::Temporary);
    buffer.count = capacity(node, output);
    buffers_[&output] = add_buffer(std::move(buffer));
  }

  // The elements of an output; a size that the node itself makes counts with what it cannot exceed.
  static Dim capacity(const Node& node, const graph::Value& output) {
    if (!node.made) return output.spec.shape.count();
    std::optional<MadeSize> made;
    const Specs specs = graph::specs_by_rules(*node.op, graph::input_specs(node), node.attrs, nullptr, nullptr, &made);
    return substitute(specs[static_cast<size_t>(output.index)].shape, {{as_symbol(made->symbol)->id, made->bound}}).count();
  }

  // The last step leaves the size in memory.
  void add_late_size(const Node& node) {
    if (block_ != 0) throw InternalError(fmt::format("lower: {} makes a size inside a region", node.op->name));
    LateSize& size = program_.late_sizes.emplace_back(
        LateSize{node.made->symbol, node.made->bound, buffer_of(node.outputs.back()), static_cast<int>(block_ref().items.size()) - 1, {}});
    for (const graph::Check& check : graph_.checks) {
      if (check.after == &node) size.checks.push_back(check);
    }
  }

  void lower_whole(const PlannedKernel& planned);
  void lower_control(const Node& root);
  BranchItem lower_branch(const Node& root);
  ScanItem lower_scan(const Node& root);
  WhileItem lower_while(const Node& root);
  std::vector<CarriedBuffer> carry(const Node& root, size_t count, Lowering& body);
  std::vector<int> buffers_of(std::span<graph::Value* const> values) const {
    std::vector<int> buffers;
    for (const graph::Value* value : values) buffers.push_back(buffer_of(value));
    return buffers;
  }

  // The item that comes next in the buffer's own block uses it.
  void touch(int number) {
    ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(number)];
    const Block& block = program_.blocks[static_cast<size_t>(buffer.block)];
    const int item = static_cast<int>(block.items.size());
    if (buffer.first_step < 0) buffer.first_step = item;
    buffer.last_step = item;
  }

  void add_item(Item item) { block_ref().items.push_back(std::move(item)); }

  void add_step(Step step, const Roots& roots, std::span<const Node* const> indexed) {
    step.ops = ops_of(roots);
    for (int buffer : step.buffers) touch(buffer);
    for (const Node* node : indexed) {
      const std::vector<TensorSpec> specs = graph::input_specs(*node);
      const OpCall call(*node->op, specs, node->attrs);
      IndexRule rule = node->op->splits != nullptr ? IndexRule{{node->op->splits(call).total}} : node->op->index_rule(call);
      block_ref().indexed_ops.push_back({numbers_.at(node), std::string(node->op->name), std::move(rule), node->place});
    }
    add_item(static_cast<int>(program_.steps.size()));
    program_.steps.push_back(std::move(step));
  }

  const Graph& graph_;
  Groups groups_;
  Shared& shared_;
  Program& program_;
  int block_ = 0;
  std::unordered_map<const Node*, int> numbers_;
  std::unordered_map<const graph::Value*, int> buffers_;
};

void Lowering::lower_whole(const PlannedKernel& planned) {
  const Node& root = *planned.roots[0];
  const Epilogue& epilogue = planned.epilogue;
  const GroupContext around = context();
  const std::string name(root.op->name);
  KernelWriter kernel{epilogue.roots.empty() ? name : fmt::format("{}_{}", name, epilogue.roots.back()->op->name)};
  std::optional<EpilogueWriter> after;
  if (!epilogue.roots.empty()) after.emplace(kernel, *root.outputs[0], epilogue, around);
  std::vector<const Node*> indexed = epilogue.reads.indexed;
  if (root.op->checks_data()) indexed.push_back(&root);
  check_indices(kernel, indexed, around);
  const std::vector<TensorSpec> inputs = graph::input_specs(root);
  std::vector<TensorSpec> outputs;
  for (const graph::Value* output : root.outputs) outputs.push_back(output->spec);
  const OpCall op_call(*root.op, inputs, root.attrs);
  WholeCall call(program_, around, kernel, root, op_call, outputs, shared_.decisions);
  if (after) call.follow(*after);
  root.op->lower(call);
  Roots all = planned.roots;
  all.insert(all.end(), epilogue.roots.begin(), epilogue.roots.end());
  add_step(kernel.finish(), all, indexed);
}

// Values go in and out by buffer: a region reads what it captures where it stands, and writes its results where they are wanted.
void Lowering::lower_control(const Node& root) {
  for (const graph::Value* input : root.inputs) touch(buffer_of(input));
  for (const graph::Value* output : root.outputs) touch(buffer_of(output));
  if (root.op == &cond_op) return add_item(lower_branch(root));
  if (root.op == &scan_op) return add_item(lower_scan(root));
  if (root.op == &while_op) return add_item(lower_while(root));
  throw InternalError(fmt::format("lower: {} is no control flow that can be lowered", root.op->name));
}

// The first inputs of a loop's region: values that change from step to step, each with a second place to be written to.
std::vector<CarriedBuffer> Lowering::carry(const Node& root, size_t count, Lowering& body) {
  std::vector<CarriedBuffer> carried;
  for (size_t i = 0; i < count; ++i) {
    const graph::Value* output = root.outputs[i];
    const int spare = temporary_for(*output);
    touch(spare);
    carried.push_back({buffer_of(root.inputs[i]), buffer_of(output), spare, body.lend_input(i)});
  }
  return carried;
}

ScanItem Lowering::lower_scan(const Node& root) {
  const ScanAttrs& attrs = root.attrs.as<ScanAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried), sequences = static_cast<size_t>(attrs.sequences);
  const std::vector<int> inputs = buffers_of(root.inputs), outputs = buffers_of(root.outputs);
  const std::optional<SplitRows> split = split_rows(root, shared_.decisions);
  const RegionGraph region = split ? split->body : attrs.body;
  const Dim active = split ? split->active : attrs.active;
  const auto by_rows = [&](const graph::Value* value) { return !active.is_constant() && begins_with(value->spec.shape, active); };
  const std::vector<graph::Value*>&given = region->inputs(), &made = region->outputs;
  Lowering body(*region, shared_);
  ScanItem item{.body = body.block(), .length = attrs.length, .reverse = attrs.reverse, .carried = carry(root, carried, body)};
  for (size_t i = 0; i < carried; ++i) item.carried[i].by_rows = by_rows(given[i]);
  for (size_t i = carried; i < carried + sequences; ++i) item.sequences.push_back({inputs[i], body.lend_input(i), by_rows(given[i])});
  for (size_t i = carried + sequences; i < given.size(); ++i) {
    if (by_rows(given[i]))
      item.captured.push_back({inputs[i], body.lend_input(i), true});
    else
      body.bind_input(i, inputs[i]);
  }
  for (size_t i = carried; i < outputs.size(); ++i) {
    item.stacked.push_back({outputs[i], -1, by_rows(made[i])});
    const auto same = std::find(given.begin(), given.begin() + attrs.carried, made[i]);
    if (same == given.begin() + attrs.carried || is_switched_off("keep_carries")) continue;
    int& kept = item.carried[static_cast<size_t>(same - given.begin())].kept;
    if (kept < 0) kept = static_cast<int>(i - carried);
  }
  if (!active.is_constant()) {
    const Dim rows = split ? split->rows : attrs.rows, total = attrs.is_packed() ? attrs.total : attrs.length * rows;
    item.rows = {active, rows, total, attrs.is_packed() ? inputs.back() : -1, split.has_value()};
    const auto is_same = [&](const Dim& known) { return known.same_as(active); };
    if (std::ranges::none_of(program_.step_sizes, is_same)) program_.step_sizes.push_back(active);
  }
  body.run_region();
  return item;
}

WhileItem Lowering::lower_while(const Node& root) {
  const WhileAttrs& attrs = root.attrs.as<WhileAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried), asked = static_cast<size_t>(attrs.condition_inputs);
  const std::vector<int> inputs = buffers_of(root.inputs);
  Lowering condition(*attrs.condition, shared_);
  WhileItem item{.condition = condition.block(), .most = attrs.max_iterations};
  for (size_t i = 0; i < carried; ++i) item.asked.push_back(condition.lend_input(i));
  for (size_t i = 0; i < asked; ++i) condition.bind_input(carried + i, inputs[carried + i]);
  condition.run_region();
  Lowering body(*attrs.body, shared_);
  item.body = body.block();
  item.carried = carry(root, carried, body);
  for (size_t i = carried + asked; i < inputs.size(); ++i) body.bind_input(i - asked, inputs[i]);
  body.run_region();
  return item;
}

BranchItem Lowering::lower_branch(const Node& root) {
  const CondAttrs& attrs = root.attrs.as<CondAttrs>();
  const std::vector<int> inputs = buffers_of(root.inputs);
  auto lower_region = [&](const Graph& region, size_t first) {
    Lowering inner(region, shared_);
    for (size_t i = 0; i < region.inputs().size(); ++i) inner.bind_input(i, inputs[first + i]);
    inner.run_region();
    return inner.block();
  };
  const int then = lower_region(*attrs.then, 1);
  const int otherwise = lower_region(*attrs.otherwise, 1 + static_cast<size_t>(attrs.then_inputs));
  return {inputs[0], then, otherwise, buffers_of(root.outputs)};
}

}  // namespace

Program lower(const Graph& graph, Decisions& decisions, std::span<const Update> updates) {
  Shared shared{.program = {}, .decisions = decisions};
  shared.program.name = graph.name;
  Lowering(graph, shared, updates).run_whole();
  return std::move(shared.program);
}

}  // namespace anyshape::lower
