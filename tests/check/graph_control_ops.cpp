// Control flow in random graphs: branches by cond and by a plain `if`, loops over an axis and on a value. What they ask for is seldom near
// the border, so that rounding does not decide.
#include "check/graph_ops.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

namespace anyshape::check {
namespace {

using Numbers = std::vector<int64_t>;
using In = std::span<const Tensor>;

std::optional<GraphNode> draw_any(GraphDraft& draft) {
  const int x = draft.any_value();
  return GraphNode{0, {x}, {}, draft.values[static_cast<size_t>(x)]};
}

// Numbers: which way round.
std::optional<GraphNode> draw_steps(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(1);
  if (!x) return std::nullopt;
  return GraphNode{0, {*x}, {draft.random.below(2)}, draft.values[static_cast<size_t>(*x)]};
}

std::optional<GraphNode> draw_last(GraphDraft& draft) {
  std::optional<GraphNode> node = draw_steps(draft);
  if (node) node->result.erase(node->result.begin());
  return node;
}

std::pair<Tensor, Tensor> recurrence(const Tensor& x, bool reverse) {
  return scan(
      [&](const Tensor& carry, const Tensor& step) {
        const Tensor next = tanh(carry + step * 0.5);
        return std::pair(next, next * step);
      },
      sum(tanh(x), {.axes = {0}}) * 0.1, x, {.reverse = reverse});
}

Tensor by_cond(In in, const Numbers&) {
  const Tensor& x = in[0];
  return cond(sum(tanh(x)) > 0.37, [&] { return tanh(x) * 2; }, [&] { return x - sum(x) * 0.01; });
}

Tensor by_if(In in, const Numbers&) {
  auto branching = function([](Tensor x) {
    const Tensor y = tanh(x);
    if (sum(y) > 0.37) return y * x;
    if (max(abs(reshape(concat({reshape(y, {-1}), zeros({1}, {.dtype = x.dtype()})}), {-1}))) > 0.61) return y - 0.5;
    return x * 0.25;
  });
  return branching(in[0]);
}

Tensor by_while(In in, const Numbers&) {
  return while_loop([](const Tensor& y) { return sum(y * y) > 1.13; }, [](const Tensor& y) { return y * 0.5 + tanh(y) * 0.125; }, in[0],
                    {.max_iterations = 4});
}

}  // namespace

std::vector<GraphOp> control_graph_ops() {
  return {
      {"cond", draw_any, by_cond},
      {"if", draw_any, by_if},
      {"while_loop", draw_any, by_while},
      {"scan", draw_steps, [](In in, const Numbers& numbers) { return recurrence(in[0], numbers[0] != 0).second; }},
      {"scan's last carry", draw_last, [](In in, const Numbers& numbers) { return recurrence(in[0], numbers[0] != 0).first; }},
  };
}

}  // namespace anyshape::check
