// Loop versions for sizes that are only known to be 1 or not when the kernel runs, and the index checks at a kernel's beginning.
#include "loop/routines.h"
#include "lower/lower_loops.h"

namespace anyshape::lower {

void emit_versions(KernelWriter& kernel, std::span<const Dim> open, const Dim& extent,
                   const std::function<void(const std::vector<OpenChoice>&)>& body) {
  if (open.empty()) return body({});
  loop::Builder& b = kernel.b;
  loop::Value all_whole = b.constant(Dtype::b8, int64_t{1});
  std::vector<OpenChoice> whole;
  for (const Dim& size : open) {
    all_whole = b.binary(loop::Op::And, all_whole, b.equal(kernel.size(size), kernel.size(extent)));
    whole.push_back({size, false});
  }
  auto other = [&] {
    if (open.size() == 1) return body({{open[0], true}});
    if (open.size() > 2) return body({});
    const loop::Value first_is_one = b.equal(kernel.size(open[0]), b.integer(1)),
                      second_is_one = b.equal(kernel.size(open[1]), b.integer(1));
    b.if_(
        first_is_one,
        [&] {
          b.if_(second_is_one, [&] { body({{open[0], true}, {open[1], true}}); }, [&] { body({{open[0], true}, {open[1], false}}); });
        },
        [&] { body({{open[0], false}, {open[1], true}}); });
  };
  b.if_(all_whole, [&] { body(whole); }, other);
}

void check_indices(KernelWriter& kernel, std::span<const graph::Node* const> indexed, const GroupContext& context) {
  for (const graph::Node* node : indexed) {
    const graph::Value* indices = node->inputs.back();
    const std::vector<TensorSpec> specs = graph::input_specs(*node);
    const OpCall call(*node->op, specs, node->attrs);
    const int32_t buffer = kernel.buffer(context.find_buffer(indices), indices->spec.dtype, loop::Access::In);
    const loop::Builder::Argument argument[] = {{buffer, kernel.b.integer(0)}};
    if (node->op->splits != nullptr) {
      const SplitsRule rule = node->op->splits(call);
      if (rule.equal_to >= 0) {
        const graph::Value* const other = node->inputs[static_cast<size_t>(rule.equal_to)];
        const loop::Builder::Argument both[] = {
            {kernel.buffer(context.find_buffer(other), other->spec.dtype, loop::Access::In), kernel.b.integer(0)}, argument[0]};
        const loop::Value integers[] = {kernel.size(indices->spec.shape[0]), kernel.b.integer(context.node_number(node))};
        kernel.b.call(loop::routine::check_same_splits, both, integers);
        continue;
      }
      const loop::Value integers[] = {kernel.size(indices->spec.shape[0] - 1), kernel.size(rule.total),
                                      kernel.b.integer(rule.empty_rows ? 1 : 0), kernel.b.integer(context.node_number(node))};
      kernel.b.call(loop::routine::check_splits, argument, integers);
      continue;
    }
    const IndexRule rule = node->op->index_rule(call);
    const auto components = static_cast<int64_t>(rule.limits.size());
    for (int64_t component = 0; component < components; ++component) {
      const Dim& limit = rule.limits[static_cast<size_t>(component)];
      const loop::Value integers[] = {kernel.size(indices->spec.shape.count()),
                                      rule.from_end ? kernel.b.subtract(kernel.b.integer(0), kernel.size(limit)) : kernel.b.integer(0),
                                      kernel.size(limit),
                                      kernel.b.integer(context.node_number(node)),
                                      kernel.b.integer(component),
                                      kernel.b.integer(components)};
      kernel.b.call(indices->spec.dtype == Dtype::i32 ? loop::routine::check_indices_i32 : loop::routine::check_indices_i64, argument,
                    integers);
    }
  }
}

}  // namespace anyshape::lower
