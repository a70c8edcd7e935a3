// Products of matrices, and attention as the products that it is made of.
#include "onnx/out/rule.h"
#include "shape/prove.h"

#include <cmath>
#include <limits>

namespace anyshape::onnx::out {
namespace {

std::string matrix(NodeCall& c, size_t input, bool is_transposed) {
  if (!is_transposed) return c.in(input);
  std::vector<int64_t> order;
  for (int axis = 0; axis < c.rank(input); ++axis) order.push_back(axis);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return c.add("Transpose", {c.in(input)}, {{"perm", order}});
}

void matmul(NodeCall& c) { c.out(c.add("MatMul", {matrix(c, 0, c.a.flag("transpose_a")), matrix(c, 1, c.a.flag("transpose_b"))})); }
void same_sizes(NodeCall& c) { c.out(c.in(0)); }

// Where queries may see keys: [queries, keys]; the last query sees all of them.
std::string is_past(NodeCall& c, const Dim& queries, const Dim& keys) {
  const std::string zero = c.e.integer(0), one = c.e.integer(1);
  const std::string rows = c.add("Range", {c.e.size_number(keys - queries), c.e.size_number(keys), one});
  const std::string columns = c.add("Range", {zero, c.e.size_number(keys), one});
  return c.add("LessOrEqual", {columns, c.add("Unsqueeze", {rows, c.e.integers({1})})});
}

// query [batch, queries, heads, depth], key and value [batch, keys, heads, depth]: scores are [batch, heads, queries, keys].
void attention(NodeCall& c) {
  if (c.a.number("dropout") > 0) c.no_form("it drops scores at random");
  if (c.is_used(1)) c.no_form("its statistics are used, as by a gradient");
  const Dim queries = c.shape(0)[1], keys = c.shape(1)[1];
  const Dim& depth = c.shape(0)[3];
  std::string scale;
  if (!c.a.flag("root_scale")) {
    scale = c.number(c.a.number("scale"));
  } else if (depth.is_constant()) {
    scale = c.number(1 / std::sqrt(static_cast<double>(depth.value())));
  } else {
    scale = c.add("Reciprocal", {c.add("Sqrt", {c.cast(c.e.size_number(depth), c.dtype())})});
  }
  const std::string query = c.add("Transpose", {c.in(0)}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  const std::string key = c.add("Transpose", {c.in(1)}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
  const std::string value = c.add("Transpose", {c.in(2)}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  std::string scores = c.add("Mul", {c.add("MatMul", {query, key}), scale});
  if (c.a.flag("masked")) {
    const double lowest = -0.7 * (c.dtype() == Dtype::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max());
    scores = c.add("Where", {c.in(3), scores, c.number(lowest)});
  }
  if (c.a.flag("causal")) scores = c.add("Where", {is_past(c, queries, keys), scores, c.number(-std::numeric_limits<double>::infinity())});
  std::string weights = c.add("Softmax", {scores}, {{"axis", int64_t{-1}}});
  // The first of more queries than keys see nothing, and give 0.
  if (c.a.flag("causal") && proves_less_equal(queries, keys) != true)
    weights = c.add("Where", {is_past(c, queries, keys), weights, c.number(0)});
  c.out(c.add("Transpose", {c.add("MatMul", {weights, value})}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}));
}

constexpr std::string_view gradient = "it is part of a gradient, and ONNX has none";
constexpr Rule rules[] = {
    {"matmul", matmul, {}, true},
    {"same_sizes", same_sizes},
    {"attention", attention},
    {"attention_gradient", nullptr, gradient},
    {"segment_attention", nullptr, "ONNX has no attention within rows of unequal length; pad them with to_padded and attend under a mask"},
    {"segment_attention_gradient", nullptr, gradient},
};

}  // namespace

std::span<const Rule> contraction_rules() { return rules; }

}  // namespace anyshape::onnx::out
