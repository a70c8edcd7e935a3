// What gradients leave behind because each op's rule knows its own op only: zeros written to be added, and scatters where every row has one
// index. Every bit stays.
#include "base/switches.h"
#include "ops/all_ops.h"
#include "ops/index/one_hot.h"
#include "ops/index/take.h"
#include "ops/movement/concat.h"
#include "ops/movement/pad.h"
#include "ops/source/size.h"
#include "passes/patterns.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <optional>

namespace anyshape::passes {
namespace {

const Switch pass_switch("clean_gradients", "zeros and scatters are taken out of sums of gradients");

using graph::Node;
using graph::Value;

// Where a pad puts its input along the one axis that it widens.
struct Part {
  int axis;
  Dim begin;
  Value* value;
};

std::optional<Part> part_of(Value* value) {
  if (!is_made_by(value, pad_op) || !is_number(value->node->inputs[1], 0)) return std::nullopt;
  const PadAttrs& attrs = value->node->attrs.as<PadAttrs>();
  Value* const source = value->node->inputs[0];
  std::optional<Part> part;
  for (int axis = 0; axis < attrs.shape.rank(); ++axis) {
    const bool is_named = static_cast<size_t>(axis) < attrs.begins.size();
    if (is_named && attrs.steps[static_cast<size_t>(axis)] != 1) return std::nullopt;
    if (source->spec.shape[axis].same_as(attrs.shape[axis])) continue;
    if (part) return std::nullopt;
    part = Part{axis, is_named ? attrs.begins[static_cast<size_t>(axis)] : Dim(0), source};
  }
  return part;
}

// A sum of parts and at most one value that is none.
struct Terms {
  std::vector<Part> parts;
  Value* rest = nullptr;
};
constexpr size_t most_parts = 512;

// The terms of a sum, as far as nothing else needs the sums on the way. False where there are two that are no parts, which would be added in
// another order: they are looked for before anything deeper is.
bool collect_terms(const Rewriting& at, const Node& sum, Terms& terms) {
  std::vector<const Node*> deeper;
  for (Value* input : sum.inputs) {
    if (!input->spec.shape.same_as(sum.outputs[0]->spec.shape)) return false;
    if (is_made_by(input, add_op) && at.users(input) == 1) {
      deeper.push_back(input->node);
    } else if (const std::optional<Part> part = part_of(input)) {
      terms.parts.push_back(*part);
    } else if (terms.rest != nullptr) {
      return false;
    } else {
      terms.rest = input;
    }
  }
  return terms.parts.size() <= most_parts && std::ranges::all_of(deeper, [&](const Node* node) { return collect_terms(at, *node, terms); });
}

// The parts one after the other along their axis; nothing where they leave room or meet.
std::vector<Part> in_order(std::vector<Part> parts, const Dim& whole) {
  const int axis = parts[0].axis;
  if (std::ranges::any_of(parts, [&](const Part& part) { return part.axis != axis; })) return {};
  Dim sum = 0, end = 0;
  for (const Part& part : parts) sum = sum + part.value->spec.shape[axis];
  if (!sum.same_as(whole)) return {};
  std::vector<Part> ordered;
  while (!parts.empty()) {
    const auto next = std::ranges::find_if(parts, [&](const Part& part) { return part.begin.same_as(end); });
    if (next == parts.end()) return {};
    end = end + next->value->spec.shape[axis];
    ordered.push_back(*next);
    parts.erase(next);
  }
  return ordered;
}

// The gradient of slices: parts among zeros, added up. Where parts do not meet each element is one number plus zeros.
Value* join_parts(Rewriting& at, const Node& node) {
  if (node.op != &add_op) return nullptr;
  const TensorSpec& spec = node.outputs[0]->spec;
  Terms terms;
  if (!collect_terms(at, node, terms) || terms.parts.size() < 2) return nullptr;
  const int axis = terms.parts[0].axis;
  const std::vector<Part> parts = in_order(std::move(terms.parts), spec.shape[axis]);
  if (parts.empty()) return nullptr;
  std::vector<Value*> values;
  for (const Part& part : parts) values.push_back(plus_zero(at, part.value));
  Value* const joined = at.add(concat_op, values, ConcatAttrs{axis}, spec);
  return terms.rest == nullptr ? joined : at.add(add_op, {terms.rest, joined}, {}, spec);
}

// Whether the take whose gradient it is runs: it refuses indices outside.
bool has_take(const Rewriting& at, const Node& gradient) {
  const TakeGradientAttrs& attrs = gradient.attrs.as<TakeGradientAttrs>();
  return std::ranges::any_of(at.walked(), [&](const Node* node) {
    return node->op == &take_op && node->inputs[1] == gradient.inputs[1] && node->inputs[0]->spec.shape.same_as(attrs.shape) &&
           node->attrs.as<TakeAttrs>().from_end == attrs.from_end && at.users(node->outputs[0]) > 0;
  });
}

Value* counted_from_start(Rewriting& at, Value* indices, const Dim& limit) {
  const TensorSpec& spec = indices->spec;
  Value* const size = at.add(size_op, {}, SizeAttrs{limit, spec.dtype}, {spec.dtype, {}, {}});
  Value* const from_end = at.add(add_op, {indices, size}, {}, spec);
  Value* const is_negative = at.add(less_op, {indices, literal(at, spec.dtype, 0)}, {}, {Dtype::b8, spec.shape, {}});
  return at.add(where_op, {is_negative, from_end, indices}, {}, spec);
}

// One index per row along the last axis: a choice at every element, which fuses with what follows, instead of zeros and a scatter.
Value* choose_instead(Rewriting& at, const Node& node) {
  if (node.op != &take_gradient_op) return nullptr;
  const TakeGradientAttrs& attrs = node.attrs.as<TakeGradientAttrs>();
  Value *const dy = node.inputs[0], *indices = node.inputs[1];
  const int last = attrs.shape.rank() - 1, rows = indices->spec.shape.rank();
  if (attrs.batch_dims != rows || attrs.axis != last || rows != last) return nullptr;
  if (!has_take(at, node)) return nullptr;
  if (attrs.from_end) indices = counted_from_start(at, indices, attrs.shape[last]);
  const TensorSpec& spec = node.outputs[0]->spec;
  Value* const is_chosen = at.add(one_hot_op, {indices}, OneHotAttrs{attrs.shape[last], -1, Dtype::b8}, {Dtype::b8, spec.shape, {}});
  Shape column = indices->spec.shape;
  column.push_back(1);
  Value* const zero = literal(at, spec.dtype, 0);
  return at.add(where_op, {is_chosen, reshaped(at, plus_zero(at, dy), column), zero}, {}, spec);
}

}  // namespace

void clean_gradients(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {
      {"parts that do not meet stand one after the other", join_parts},
      {"one index per row is a choice at every element", choose_instead},
  };
  rewrite("clean_gradients", graph, rules, decisions);
}

}  // namespace anyshape::passes
