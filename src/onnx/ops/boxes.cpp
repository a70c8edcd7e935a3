// ONNX's choice among boxes that overlap: of each class the one with the greatest score, then the next that overlaps none chosen too much.
#include "onnx/rule.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

// Edges of boxes, each of one shape.
struct Edges {
  Tensor top, left, bottom, right;

  template <class Change>
  Edges each(const Change& change) const {
    return {change(top), change(left), change(bottom), change(right)};
  }
  Tensor area() const { return (bottom - top) * (right - left); }
};

// boxes [batch, count, 4]: two corners in any order, or the middle and the lengths of the sides.
Edges edges_of(NodeCall& call, const Tensor& boxes) {
  const auto part = [&](int64_t which) { return boxes.at(whole, whole, which); };
  if (call.flag("center_point_box")) {
    const Tensor half_width = part(2) / 2, half_height = part(3) / 2;
    return {part(1) - half_height, part(0) - half_width, part(1) + half_height, part(0) + half_width};
  }
  return {minimum(part(0), part(2)), minimum(part(1), part(3)), maximum(part(0), part(2)), maximum(part(1), part(3))};
}

Tensor overlap(const Edges& a, const Edges& b) {
  const Tensor height = maximum(minimum(a.bottom, b.bottom) - maximum(a.top, b.top), 0);
  const Tensor width = maximum(minimum(a.right, b.right) - maximum(a.left, b.left), 0), common = height * width;
  return common / (a.area() + b.area() - common);
}

Results non_max_suppression_rule(NodeCall& call) {
  const Tensor boxes = call.tensor(0), scores = call.tensor(1);
  if (boxes.rank() != 3 || scores.rank() != 3) {
    call.fail(fmt::format("boxes of rank {} and scores of rank {}", boxes.rank(), scores.rank()),
              "[batch, boxes, 4] and [batch, classes, boxes]");
  }
  const Shape shape = scores.shape();  // [batch, classes, boxes]
  const auto scalar = [&](size_t input, const Tensor& otherwise) { return call.has(input) ? reshape(call.tensor(input), {}) : otherwise; };
  const Tensor most = scalar(2, full({}, int64_t{0}, {.dtype = i64})), limit = scalar(3, full({}, 0.0, {.dtype = f32}));
  const Tensor order = argsort(scores, {.axis = 2, .descending = true});
  const Edges all = edges_of(call, boxes).each([&](const Tensor& edge) {
    return take_along_axis(broadcast_to(expand_dims(edge, 1), shape), order, {.axis = 2});
  });
  const Tensor candidates = call.has(4) ? take_along_axis(scores, order, {.axis = 2}) > scalar(4, {}) : ones(shape, {.dtype = b8});
  const Tensor index = arange(shape[2], {.dtype = i64});
  const auto by_box = [](const Tensor& x) { return moveaxis(x, 2, 0); };
  const std::vector<Tensor> sequences{by_box(all.top), by_box(all.left), by_box(all.bottom), by_box(all.right), by_box(candidates), index};
  const std::vector<Tensor> initial{zeros(shape, {.dtype = b8}), zeros({shape[0], shape[1]}, {.dtype = i64})};
  auto [last, unused] = scan(
      [&](const std::vector<Tensor>& carried, const std::vector<Tensor>& step) {
        const Edges own = Edges{step[0], step[1], step[2], step[3]}.each([](const Tensor& edge) { return expand_dims(edge, -1); });
        const Tensor is_hidden = any(logical_and(carried[0], overlap(all, own) > limit), {.axis = -1});
        const Tensor is_chosen = logical_and(logical_and(step[4], logical_not(is_hidden)), carried[1] < most);
        const Tensor chosen = logical_or(carried[0], logical_and(expand_dims(is_chosen, -1), index == step[5]));
        return std::pair(std::vector{chosen, carried[1] + cast(is_chosen, i64)}, std::vector<Tensor>());
      },
      initial, sequences);
  const Tensor found = nonzero(last[0]);  // [chosen, 3]: batch, class, index in the order of scores
  const Tensor box = expand_dims(gather_nd(order, found), 1);
  return cast(concat({slice(found, {{}, {.end = 2}}), box}, 1), i64);
}

constexpr RuleEntry entries[] = {{"NonMaxSuppression", 10, non_max_suppression_rule}};

}  // namespace

const RuleTable box_rules = entries;

}  // namespace anyshape::onnx
