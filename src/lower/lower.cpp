// lower(): walks the roots in order and writes one kernel each.
#include "lower/lower.h"

#include "lower/lower_loops.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <unordered_map>

namespace anyshape::lower {
namespace {

using graph::Graph;
using graph::Node;

class Lowering {
 public:
  explicit Lowering(const Graph& graph) : graph_(graph), groups_(group(graph)) {
    // Random ops are counted among themselves, so that their numbers do not depend on what stands beside them.
    int random_ops = 0;
    for (const Node* node : graph.nodes()) {
      const bool is_random = node->op->kind == OpKind::Random;
      numbers_[node] = is_random ? random_ops++ : static_cast<int>(numbers_.size());
    }
    program_.uses_random = random_ops > 0;
  }

  Program run() {
    for (const graph::Value* input : graph_.inputs()) {
      buffers_[input] = add_buffer({BufferKind::Argument, input->index, input->spec.dtype, input->spec.shape.count()});
    }
    for (const Node* root : groups_.roots) lower_root(*root);
    for (const graph::Value* output : graph_.outputs) {
      ProgramBuffer& buffer = program_.buffers[buffer_of(output)];
      if (buffer.kind == BufferKind::Temporary) buffer.kind = BufferKind::Result;
      program_.results.push_back({buffer_of(output), output->spec});
    }
    return std::move(program_);
  }

 private:
  class WholeCall;

  int add_buffer(ProgramBuffer buffer) {
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
  }
  int new_temporary(Dtype dtype, const Dim& count) { return add_buffer({BufferKind::Temporary, -1, dtype, count}); }
  int buffer_of(const graph::Value* value) const {
    const auto found = buffers_.find(value);
    if (found == buffers_.end()) throw InternalError(fmt::format("lower: %{} is read before it is in memory", value->id));
    return found->second;
  }
  GroupContext context() {
    return {groups_, [this](const graph::Value* value) { return buffer_of(value); }, [this](const Node* node) { return numbers_.at(node); },
            [this](Dtype dtype, const Dim& count) { return new_temporary(dtype, count); }};
  }

  void lower_root(const Node& root) {
    if (root.op->is_alias) {
      buffers_[root.outputs[0]] = buffer_of(root.inputs[0]);
      return;
    }
    for (const graph::Value* output : root.outputs) buffers_[output] = new_temporary(output->spec.dtype, output->spec.shape.count());
    if (root.op->lower != nullptr) return lower_whole(root);
    GroupKernel kernel = root.op->reduce != nullptr ? lower_reduction(root, context()) : lower_elementwise(root, context());
    add_step(std::move(kernel.step), kernel.indexed);
  }

  void lower_whole(const Node& root);

  void add_step(Step step, std::span<const Node* const> indexed) {
    const int number = static_cast<int>(program_.steps.size());
    for (int buffer : step.buffers) {
      ProgramBuffer& used = program_.buffers[buffer];
      if (used.first_step < 0) used.first_step = number;
      used.last_step = number;
    }
    for (const Node* node : indexed) {
      const std::vector<TensorSpec> specs = graph::input_specs(*node);
      const OpCall call(*node->op, specs, node->attrs);
      std::vector<Dim> limits = node->op->splits != nullptr ? std::vector<Dim>{node->op->splits(call).total} : node->op->index_limits(call);
      program_.indexed_ops.push_back({numbers_.at(node), std::string(node->op->name), std::move(limits)});
    }
    program_.steps.push_back(std::move(step));
  }

  const Graph& graph_;
  Groups groups_;
  Program program_;
  std::unordered_map<const Node*, int> numbers_;
  std::unordered_map<const graph::Value*, int> buffers_;
};

// The view of an op that writes its own loops.
class Lowering::WholeCall final : public LowerCall {
 public:
  WholeCall(Lowering& lowering, KernelWriter& kernel, const Node& node, const OpCall& call, std::span<const TensorSpec> outputs)
      : LowerCall(kernel.b, call, outputs), lowering_(lowering), kernel_(kernel), node_(node) {}
  int32_t input(int k) override {
    return kernel_.buffer(lowering_.buffer_of(node_.inputs[k]), node_.inputs[k]->spec.dtype, loop::Access::In);
  }
  int32_t output(int k) override {
    return kernel_.buffer(lowering_.buffer_of(node_.outputs[k]), node_.outputs[k]->spec.dtype, loop::Access::InOut);
  }
  int32_t scratch(Dtype dtype, const Dim& count) override {
    return kernel_.buffer(lowering_.new_temporary(dtype, count), dtype, loop::Access::InOut);
  }
  loop::Value size(const Dim& dim) override { return kernel_.size(dim); }
  int op_number() override { return lowering_.numbers_.at(&node_); }

 private:
  Lowering& lowering_;
  KernelWriter& kernel_;
  const Node& node_;
};

void Lowering::lower_whole(const Node& root) {
  KernelWriter kernel{std::string(root.op->name)};
  std::vector<const Node*> indexed;
  if (root.op->checks_data()) indexed.push_back(&root);
  check_indices(kernel, indexed, context());
  const std::vector<TensorSpec> inputs = graph::input_specs(root);
  std::vector<TensorSpec> outputs;
  for (const graph::Value* output : root.outputs) outputs.push_back(output->spec);
  const OpCall op_call(*root.op, inputs, root.attrs);
  WholeCall call(*this, kernel, root, op_call, outputs);
  root.op->lower(call);
  add_step(kernel.finish(), indexed);
}

}  // namespace

Program lower(const Graph& graph) { return Lowering(graph).run(); }

}  // namespace anyshape::lower
