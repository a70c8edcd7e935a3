// Element rules composed into one loop body.
#include "lower/elements.h"

#include "lower/random_symbols.h"
#include "shape/prove.h"

#include <algorithm>

namespace anyshape::lower {

using graph::Node;
using graph::Value;

bool is_at_most_zero(const Value* value) {
  const Node* const node = value->node;
  if (node == nullptr || !node->op->traits.is_difference) return false;
  const Value *const x = node->inputs[0], *const greatest = node->inputs[1];
  const ReduceRule* const reduce = greatest->node == nullptr ? nullptr : greatest->node->op->reduce;
  return reduce != nullptr && reduce->combine == loop::Combine::Maximum && greatest->node->inputs[0] == x &&
         greatest->spec.shape.rank() == x->spec.shape.rank();  // else another row's
}

// An op's view of the group: its inputs are other elements.
class Elements::Call final : public ElementCall {
 public:
  Call(Elements& elements, const Node& node, const OpCall& call, const TensorSpec& output, std::span<const loop::Value> index)
      : ElementCall(elements.kernel_.b, call, output, index), elements_(elements), node_(node) {}

  loop::Value input(int k, std::span<const loop::Value> at) override { return elements_.element(node_.inputs[k], at); }
  loop::Value operand(int k) override {
    const Shape& shape = node_.inputs[k]->spec.shape;
    const int skipped = output.shape.rank() - shape.rank();
    loop::Values at;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      at.push_back(elements_.broadcast_index(index[axis + skipped], shape[axis], output.shape[axis + skipped]));
    }
    return input(k, at);
  }
  bool is_at_most_zero(int k) const override { return lower::is_at_most_zero(node_.inputs[static_cast<size_t>(k)]); }
  loop::Value size(const Dim& dim) override { return elements_.kernel_.size(dim); }
  loop::Value linear_index() override { return elements_.offset(output.shape, index); }
  loop::Value random_key() override { return size(random_key_symbol()); }
  loop::Value random_counter() override { return b.add(size(random_counter_symbol()), b.integer(elements_.node_number_(&node_))); }

 private:
  Elements& elements_;
  const Node& node_;
};

void Elements::enter_body(loop::Value inner, std::vector<OpenChoice> choices) {
  known_.clear();
  last_known_.clear();
  inner_ = inner;
  choices_ = std::move(choices);
}

loop::Value Elements::find_known(const Value* value, std::span<const loop::Value> index) const {
  const int32_t* const last = last_known_.find(value);
  for (int32_t at = last == nullptr ? -1 : *last - 1; at >= 0; at = known_[static_cast<size_t>(at)].next) {
    if (std::ranges::equal(known_[static_cast<size_t>(at)].index, index)) return known_[static_cast<size_t>(at)].element;
  }
  return {};
}

loop::Value Elements::remember(const Value* value, std::span<const loop::Value> index, loop::Value element) {
  int32_t& last = last_known_[value];
  known_.push_back({index, element, last - 1});
  last = static_cast<int32_t>(known_.size());
  return element;
}

loop::Value Elements::element(const Value* value, std::span<const loop::Value> index) {
  if (const loop::Value found = find_known(value, index)) return found;
  if (const loop::Value given = given_ ? given_(value, index) : loop::Value{}) return remember(value, index, given);
  if (value->node != nullptr && !groups_.in_memory.contains(value)) return compute(value, index);
  accesses_.push_back({&value->spec.shape, index, value->strides.empty() || value->joined, value});
  const int number = find_buffer_(value);
  const int32_t buffer = kernel_.buffer(number, value->spec.dtype, own_.contains(number) ? loop::Access::Own : loop::Access::In);
  return remember(value, index, kernel_.b.load(buffer, memory_offset(value, index)));
}

loop::Value Elements::compute(const Value* value, std::span<const loop::Value> index) {
  const Node& node = *value->node;
  if (node.op->kind != OpKind::Elementwise) accesses_.push_back({&value->spec.shape, index});
  if (node.op->checks_data() && std::ranges::find(indexed_, &node) == indexed_.end()) indexed_.push_back(&node);
  const std::vector<TensorSpec> specs = graph::input_specs(node);
  const OpCall op_call(*node.op, specs, node.attrs);
  Call call(*this, node, op_call, value->spec, index);
  const loop::Value result = kernel_.b.cast(node.op->element(call), value->spec.dtype);  // a half is rounded even where it is not stored
  return remember(value, index, result);
}

loop::Value Elements::memory_offset(const Value* value, std::span<const loop::Value> index) {
  if (value->strides.empty()) return offset(value->spec.shape, index);
  loop::Builder& b = kernel_.b;
  loop::Value sum = b.integer(0);
  for (size_t axis = index.size(); axis-- > 0;) sum = b.add(b.multiply(index[axis], kernel_.size(value->strides[axis])), sum);
  return sum;
}

loop::Value Elements::offset(const Shape& shape, std::span<const loop::Value> index) {
  loop::Builder& b = kernel_.b;
  loop::Value sum = b.integer(0);
  Dim stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    sum = b.add(b.multiply(index[axis], kernel_.size(stride)), sum);
    if (axis > 0) stride = stride * shape[axis];
  }
  return sum;
}

loop::Value Elements::broadcast_index(loop::Value index, const Dim& size, const Dim& extent) {
  loop::Builder& b = kernel_.b;
  if (proves_equal(size, extent).value_or(false)) return index;
  if (proves_equal(size, 1).value_or(false)) return b.integer(0);
  if (index == inner_) {
    for (const OpenChoice& choice : choices_) {
      if (choice.size.same_as(size)) return choice.repeated ? b.integer(0) : index;
    }
  }
  const auto is_known = [&](const OpenIndex& known) { return known.index == index && known.size.same_as(size); };
  if (std::ranges::none_of(open_, is_known)) open_.push_back({index, size});
  return b.multiply(index, b.cast(b.binary(loop::Op::NotEqual, kernel_.size(size), b.integer(1)), Dtype::i64));
}

}  // namespace anyshape::lower
