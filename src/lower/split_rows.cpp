// Row by row: which values have a row per row of the batch, and whether ops keep rows apart. A size does not say it, as another axis may have
// the same one: rows are followed from the carried values and the results of a time step through the ops between them.
#include "lower/split_rows.h"

#include "base/switches.h"
#include "graph/regions.h"
#include "graph/symbol_collector.h"
#include "graph/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace anyshape::lower {
namespace {

const Switch splits_rows("split_rows", "a loop whose rows do not meet runs blocks of rows apart");

using graph::Graph;
using graph::Node;
using graph::Value;

// How rows may pass through an op.
class RowRules {
 public:
  explicit RowRules(const Dim& count) : count_(count) {}

  bool begins(const Value* value) const { return begins_with(value->spec.shape, count_); }
  // Row r of the result goes with row r of each input that gives rows, and what else the op reads it reads whole for every row.
  bool keeps_rows_apart(const Node& node) const { return node.outputs.size() == 1 && begins(node.outputs[0]) && works_row_by_row(node); }
  bool gives_rows(const Node& node, size_t input) const {
    switch (inputs_with_rows(*node.op)) {
      case RowRule::Inputs::Broadcast: return is_aligned(node, node.inputs[input]);
      case RowRule::Inputs::All: return true;
      case RowRule::Inputs::First: return input == 0;
      case RowRule::Inputs::None: break;
    }
    return false;
  }

 private:
  static RowRule::Inputs inputs_with_rows(const OpDef& op) {
    if (op.rows != nullptr) return op.rows->inputs;
    return op.kind == OpKind::Elementwise ? RowRule::Inputs::Broadcast : RowRule::Inputs::First;
  }
  bool is_aligned(const Node& node, const Value* input) const {
    return begins(input) && input->spec.shape.rank() == node.outputs[0]->spec.shape.rank();
  }
  bool works_row_by_row(const Node& node) const {
    const OpDef& op = *node.op;
    switch (inputs_with_rows(op)) {
      case RowRule::Inputs::None: return true;
      case RowRule::Inputs::Broadcast: return reads_rows_or_all(node);
      case RowRule::Inputs::All:
        if (!std::ranges::all_of(node.inputs, [&](const Value* input) { return begins(input); })) return false;
        break;
      case RowRule::Inputs::First:
        if (node.inputs.empty() || !begins(node.inputs[0])) return false;
        break;
    }
    if (op.reduce == nullptr && (op.rows == nullptr || op.rows->is_apart == nullptr)) return op.rows != nullptr;
    const std::vector<TensorSpec> specs = graph::input_specs(node);
    const OpCall call(op, specs, node.attrs);
    return op.reduce != nullptr ? op.reduce->axes(call)[0] == AxisFate::Kept : op.rows->is_apart(call);
  }
  bool reads_rows_or_all(const Node& node) const {
    const int rank = node.outputs[0]->spec.shape.rank();
    return std::ranges::all_of(node.inputs, [&](const Value* input) {
      return is_aligned(node, input) || input->spec.shape.rank() < rank || input->spec.shape[0].same_as(1);
    });
  }

  Dim count_;
};

// The values of a body that have a row per row of the batch.
class RowFlow {
 public:
  RowFlow(const ScanAttrs& attrs, const Dim& count) : attrs_(attrs), body_(*attrs.body), rules_(count) {}

  // Why rows cannot be kept apart; empty where they can.
  std::string follow() {
    const std::vector<const Value*> ends = given_and_made();
    if (!std::ranges::all_of(ends, [&](const Value* value) { return rules_.begins(value); }))
      return "not all it carries and gives has rows";
    rows_.insert(ends.begin(), ends.end());
    for (size_t before = 0; before != rows_.size();) {
      before = rows_.size();
      for (const Node* node : body_.nodes()) pass_through(*node);
    }
    for (const Node* node : body_.nodes()) {
      if (mixes_rows(*node)) return graph::label(*node) + " works on all rows together";
    }
    return {};
  }
  bool has_rows(const Value* value) const { return rows_.contains(value); }

 private:
  // What has rows by what it is: carried values, results, and in a packed scan all that is written in its number of rows.
  std::vector<const Value*> given_and_made() const {
    const std::vector<Value*>& inputs = body_.inputs();
    std::vector<const Value*> ends(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(attrs_.carried));
    ends.insert(ends.end(), body_.outputs.begin(), body_.outputs.end());
    if (attrs_.is_packed())
      std::ranges::copy_if(inputs, std::back_inserter(ends), [&](const Value* value) { return rules_.begins(value); });
    return ends;
  }
  // Where one of the values has rows, all have them whose rows go with those.
  void pass_through(const Node& node) {
    if (!rules_.keeps_rows_apart(node)) return;
    std::vector<const Value*> together = {node.outputs[0]};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (rules_.gives_rows(node, i)) together.push_back(node.inputs[i]);
    }
    if (std::ranges::any_of(together, [&](const Value* value) { return has_rows(value); })) rows_.insert(together.begin(), together.end());
  }
  bool mixes_rows(const Node& node) const {
    if (node.op->kind == OpKind::Control || node.op->kind == OpKind::Random || node.op->checks_data() || node.outputs.size() != 1)
      return true;
    const bool is_apart = rules_.keeps_rows_apart(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (has_rows(node.inputs[i]) && !(is_apart && rules_.gives_rows(node, i))) return true;
    }
    return has_rows(node.outputs[0]) && !is_apart;
  }

  const ScanAttrs& attrs_;
  const Graph& body_;
  RowRules rules_;
  std::unordered_set<const Value*> rows_;
};

// The body with `active` for the number of rows, and for no other size that is equal to it. Its checks stay those of all rows.
RegionGraph rewritten(const Graph& body, const RowFlow& flow, const Dim& active) {
  RegionGraph copy = graph::clone(body);
  const auto write = [&](const Value* from, Value* to) {
    if (flow.has_rows(from)) to->spec.shape[0] = active;
  };
  for (size_t i = 0; i < body.inputs().size(); ++i) write(body.inputs()[i], copy->inputs()[i]);
  for (size_t i = 0; i < body.nodes().size(); ++i) {
    const Node& from = *body.nodes()[i];
    Node& to = *copy->nodes()[i];
    const RowRule* const rule = from.op->rows;
    if (flow.has_rows(from.outputs[0]) && rule != nullptr && rule->with_rows != nullptr) to.attrs = rule->with_rows(from.attrs, active);
    write(from.outputs[0], to.outputs[0]);
  }
  return copy;
}

bool names(const Graph& body, const Dim& size) {
  graph::SymbolCollector collector;
  collector.add_graph(body);
  for (const Node* node : body.nodes()) collector.add(*node);
  return std::ranges::find(collector.symbols, as_symbol(size)->id, &Symbol::id) != collector.symbols.end();
}

struct Split {
  std::optional<SplitRows> rows = {};
  std::string reason;
};

Split split(const ScanAttrs& attrs) {
  if (attrs.carried == 0) return {.reason = "it carries nothing"};
  const Shape& first = attrs.body->inputs()[0]->spec.shape;
  if (first.rank() == 0) return {.reason = "what it carries has no rows"};
  const Dim count = attrs.is_packed() ? attrs.active : first[0];
  if (count.is_constant() && count.value() < 2) return {.reason = "there is one row at most"};
  RowFlow flow(attrs, count);
  if (std::string reason = flow.follow(); !reason.empty()) return {.reason = std::move(reason)};
  const Dim active = make_data_symbol("rows");
  RegionGraph body = rewritten(*attrs.body, flow, active);
  // The rows of a time step are not those of a block.
  if (attrs.is_packed() && names(*body, attrs.active)) return {.reason = "its body asks how many rows a step has"};
  return {SplitRows{std::move(body), active, attrs.is_packed() ? attrs.rows : count}, "every op of its body works on each row by itself"};
}

}  // namespace

std::optional<SplitRows> split_rows(const Node& scan, Decisions& decisions) {
  if (splits_rows.is_off()) return std::nullopt;
  Split made = split(scan.attrs.as<ScanAttrs>());
  decisions.push_back({"split_rows", graph::label(scan), made.rows.has_value(), std::move(made.reason)});
  return std::move(made.rows);
}

}  // namespace anyshape::lower
