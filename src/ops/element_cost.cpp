// Counts what the op's element rule writes into a kernel that is thrown away.
#include "ops/element_cost.h"

#include "loop/element.h"

#include <string>

namespace anyshape {
namespace {

// Operands are loads, which cost nothing here.
class CostCall final : public ElementCall {
 public:
  CostCall(loop::Builder& b, const OpCall& call, const TensorSpec& output, std::span<const loop::Value> index, loop::Value any_index)
      : ElementCall(b, call, output, index), any_index_(any_index) {}
  loop::Value input(int k, std::span<const loop::Value> /*at*/) override { return operand(k); }
  loop::Value operand(int k) override {
    const int32_t buffer = b.buffer("operand", computed_in(call.inputs[static_cast<size_t>(k)].dtype), loop::Access::In);
    return b.load(buffer, any_index_);
  }
  loop::Value size(const Dim& /*dim*/) override { return any_index_; }
  loop::Value linear_index() override { return any_index_; }
  loop::Value random_key() override { return any_index_; }
  loop::Value random_counter() override { return any_index_; }

 private:
  loop::Value any_index_;
};

int count(const loop::Block& block) {
  int cost = 0;
  for (const loop::Instruction& instruction : block) {
    cost += count(instruction.body) + count(instruction.otherwise);
    switch (instruction.op) {
      case loop::Op::Constant:
      case loop::Op::Size:
      case loop::Op::Load:
      case loop::Op::Store: break;
      case loop::Op::Divide:
      case loop::Op::SquareRoot:
      case loop::Op::FloorDivide:
      case loop::Op::Modulo: cost += division_cost; break;
      default: ++cost;
    }
  }
  return cost;
}

}  // namespace

int element_cost(const graph::Node& node) {
  loop::Builder b("cost");
  const TensorSpec& output = node.outputs[0]->spec;
  const loop::Value any_index = b.size("any_index");
  const std::vector<loop::Value> index(static_cast<size_t>(output.shape.rank()), any_index);
  const std::vector<TensorSpec> specs = graph::input_specs(node);
  const OpCall call(*node.op, specs, node.attrs);
  CostCall element(b, call, output, index, any_index);
  const loop::Value result = node.op->element(element);
  const int32_t target = b.buffer("result", computed_in(output.dtype), loop::Access::Out);
  b.store(target, any_index, b.cast(result, computed_in(output.dtype)));
  return count(b.finish().body);
}

}  // namespace anyshape
