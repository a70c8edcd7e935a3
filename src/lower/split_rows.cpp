// Row by row: which values have a row per row of the batch, and whether ops keep rows apart.
#include "lower/split_rows.h"

#include "base/switches.h"
#include "graph/regions.h"
#include "graph/symbol_collector.h"
#include "ops/all_ops.h"
#include "ops/contraction/lower_matmul.h"
#include "ops/movement/pad.h"
#include "ops/movement/slice.h"
#include "shape/substitute.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

using graph::Node;
using graph::Value;

class RowRules {
 public:
  explicit RowRules(const Dim& active) : active_(active), id_(as_symbol(active)->id) {}

  bool has_rows(const Value* value) const { return begins_with(value->spec.shape, active_); }
  bool is_plain(const Value* value) const { return names_rows_in_front_only(value->spec.shape, active_); }
  bool keeps_rows_apart(const Node& node) const {
    const OpDef& op = *node.op;
    if (op.kind == OpKind::Control || op.kind == OpKind::Random || op.checks_data() || node.outputs.size() != 1) return false;
    const bool gives_rows = has_rows(node.outputs[0]);
    if (!is_plain(node.outputs[0]) || (!gives_rows && std::ranges::any_of(node.inputs, [&](const Value* v) { return has_rows(v); })))
      return false;
    if (uses_count(node) && (!may_name_rows(op) || counts_as_offset(node))) return false;
    return !gives_rows || gives_them_one_by_one(node);
  }

 private:
  // Ops whose attributes say the shape of the result.
  static bool may_name_rows(const OpDef& op) {
    const OpDef* const known[] = {&full_op, &reshape_op, &broadcast_to_op, &slice_op, &pad_op, &sum_to_op};
    return std::ranges::find(known, &op) != std::end(known);
  }
  // Where elements begin does not follow the rows of a block.
  bool counts_as_offset(const Node& node) const {
    const auto is_count = [&](const Dim& begin) { return depends_on(begin, id_); };
    if (node.op == &slice_op) return std::ranges::any_of(node.attrs.as<SliceAttrs>().begins, is_count);
    return node.op == &pad_op && std::ranges::any_of(node.attrs.as<PadAttrs>().begins, is_count);
  }
  bool uses_count(const Node& node) const {
    graph::SymbolCollector collector;
    node.attrs.visit(collector);
    return std::ranges::any_of(collector.symbols, [&](const Symbol& symbol) { return symbol.id == id_; });
  }
  // As an operand that broadcasts to the node's result: a row for each row, or the same for all.
  bool broadcasts(const Value* input, const Node& node) const {
    const int rank = node.outputs[0]->spec.shape.rank();
    if (has_rows(input)) return input->spec.shape.rank() == rank;
    return input->spec.shape.rank() < rank || input->spec.shape[0].same_as(1);
  }
  bool gives_them_one_by_one(const Node& node) const {
    const OpDef& op = *node.op;
    const auto all_have_rows = [&] { return std::ranges::all_of(node.inputs, [&](const Value* input) { return has_rows(input); }); };
    if (op.kind == OpKind::Elementwise || &op == &broadcast_to_op)
      return std::ranges::all_of(node.inputs, [&](const Value* input) { return broadcasts(input, node); });
    if (&op == &full_op) return true;
    if (op.reduce != nullptr) {
      const std::vector<TensorSpec> specs = graph::input_specs(node);
      return has_rows(node.inputs[0]) && op.reduce->axes(OpCall(op, specs, node.attrs))[0] == AxisFate::Kept;
    }
    if (&op == &matmul_op) return has_rows(node.inputs[0]) && !has_rows(node.inputs[1]) && keeps_rows_of_first(node);
    if (&op == &slice_op) {
      const SliceAttrs& attrs = node.attrs.as<SliceAttrs>();
      return all_have_rows() && (attrs.begins.empty() || (attrs.begins[0].same_as(0) && attrs.steps[0] == 1));
    }
    if (&op == &pad_op) {
      const PadAttrs& attrs = node.attrs.as<PadAttrs>();
      return has_rows(node.inputs[0]) && (attrs.begins.empty() || (attrs.begins[0].same_as(0) && attrs.steps[0] == 1));
    }
    // One after the other along an axis behind the first: else there were more rows than `active`.
    return (&op == &reshape_op || &op == &concat_op) && all_have_rows();
  }
  static bool keeps_rows_of_first(const Node& node) {
    const int rank = node.inputs[0]->spec.shape.rank();
    return node.inputs[1]->spec.shape.rank() == 2 && (rank > 2 || !node.attrs.as<MatmulAttrs>().transpose_a);
  }

  Dim active_;
  uint64_t id_;
};

// The body with another symbol for the number of rows.
RegionGraph rewritten(const graph::Graph& body, const Dim& rows, const Dim& active) {
  RegionGraph copy = graph::clone(body);
  const Substitution by{{as_symbol(rows)->id, active}};
  for (Value* input : copy->inputs()) input->spec.shape = substitute(input->spec.shape, by);
  for (Node* node : copy->nodes()) {
    for (Value* output : node->outputs) output->spec.shape = substitute(output->spec.shape, by);
    node->attrs = node->attrs.map_dims([&](const Dim& dim) { return substitute(dim, by); });
  }
  return copy;  // its checks hold for all rows, not for those of a block
}

bool is_row_by_row(const graph::Graph& body, size_t carried, const Dim& active) {
  const RowRules rules(active);
  const auto has_rows = [&](const Value* value) { return rules.has_rows(value); };
  return std::ranges::all_of(body.inputs(), [&](const Value* input) { return rules.is_plain(input); }) &&
         std::all_of(body.inputs().begin(), body.inputs().begin() + static_cast<std::ptrdiff_t>(carried), has_rows) &&
         std::ranges::all_of(body.outputs, has_rows) &&
         std::ranges::all_of(body.nodes(), [&](const Node* node) { return rules.keeps_rows_apart(*node); });
}

// A rule on the rows of a step, which are not those of a block.
bool checks_count(const graph::Graph& body, const Dim& active) {
  const uint64_t id = as_symbol(active)->id;
  return std::ranges::any_of(body.checks,
                             [&](const graph::Check& check) { return depends_on(check.check.a, id) || depends_on(check.check.b, id); });
}

bool has_control_flow(const graph::Graph& body) {
  return std::ranges::any_of(body.nodes(), [](const Node* node) { return node->op->kind == OpKind::Control; });
}

}  // namespace

std::optional<SplitRows> split_rows(const ScanAttrs& attrs) {
  if (is_switched_off("split_rows") || attrs.carried == 0 || has_control_flow(*attrs.body)) return std::nullopt;
  const auto carried = static_cast<size_t>(attrs.carried);
  if (attrs.is_packed()) {
    if (checks_count(*attrs.body, attrs.active) || !is_row_by_row(*attrs.body, carried, attrs.active)) return std::nullopt;
    return SplitRows{attrs.body, attrs.active, attrs.rows};
  }
  const Shape& first = attrs.body->inputs()[0]->spec.shape;
  if (first.rank() == 0 || as_symbol(first[0]) == nullptr) return std::nullopt;
  const Dim active = make_data_symbol("rows");
  RegionGraph body = rewritten(*attrs.body, first[0], active);
  if (!is_row_by_row(*body, carried, active)) return std::nullopt;
  return SplitRows{std::move(body), active, first[0]};
}

}  // namespace anyshape::lower
