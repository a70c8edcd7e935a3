// The walk over a graph.
#include "onnx/out/exporter.h"

#include "graph/bind.h"
#include "graph/layer_path.h"
#include "graph/regions.h"
#include "onnx/out/rule.h"
#include "ops/source/constant.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape::onnx::out {
namespace {

constexpr int64_t most_grown_bytes = 4096;  // what is computed now may be larger than what it is made of by this

int64_t bytes_of(const TensorSpec& spec) { return spec.shape.count().value() * size_of(spec.dtype); }

bool has_fixed_sizes(const Attrs& attrs) {
  bool is_fixed = true;
  if (!attrs.empty()) {
    static_cast<void>(attrs.map_dims([&](const Dim& size) {
      is_fixed = is_fixed && size.is_constant();
      return size;
    }));
  }
  return is_fixed;
}

}  // namespace

const Rule* find_rule(std::string_view op) {
  static const auto& by_name = *new std::map<std::string_view, const Rule*>([] {
    std::map<std::string_view, const Rule*> found;
    for (const std::span<const Rule> family : {elementwise_rules(), reduce_rules(), contraction_rules(), image_rules(), movement_rules(),
                                               index_rules(), segment_rules(), source_rules(), control_rules()}) {
      for (const Rule& rule : family) found.emplace(rule.op, &rule);
    }
    return found;
  }());
  const auto found = by_name.find(op);
  return found == by_name.end() ? nullptr : found->second;
}

bool is_op(const graph::Value* value, std::string_view op) { return value->node != nullptr && value->node->op->name == op; }

bool is_number(const Emitter& emitter, const graph::Value* value, double number) {
  const Tensor* const known = emitter.known(value);
  return known != nullptr && known->shape().count().value() == 1 && known->item<double>() == number;
}

void Exporter::note_uses(const graph::Graph& graph) {
  for (const graph::Node* node : graph.nodes()) {
    for (const graph::Value* input : node->inputs) ++uses_[input];
    for (const graph::NamedRegion& region : graph::regions_of(*node)) note_uses(*region.graph);
  }
  for (const graph::Value* output : graph.outputs) ++uses_[output];
}

// What depends on weights alone is computed now, where that takes no more room than they do.
bool Exporter::compute(const graph::Node& node) {
  if (node.made || node.inputs.empty() || node.op->kind == OpKind::Control || node.op->kind == OpKind::Random) return false;
  std::vector<Tensor> inputs;
  int64_t given = most_grown_bytes, made = 0;
  for (const graph::Value* input : node.inputs) {
    const Tensor* const known = e_.known(input);
    if (known == nullptr) return false;
    inputs.push_back(*known);
    given += bytes_of(input->spec);
  }
  for (const graph::Value* output : node.outputs) {
    if (!output->spec.shape.is_constant()) return false;
    made += bytes_of(output->spec);
  }
  if (made > given || !has_fixed_sizes(node.attrs)) return false;
  const std::vector<Tensor> results = bind_all(*node.op, inputs, node.attrs);
  const bool keeps = node.op->kind == OpKind::Movement || node.op->traits.is_cast;  // it is the same weight still
  for (size_t i = 0; i < results.size(); ++i)
    e_.set_known(node.outputs[i], results[i], keeps ? e_.known_name(node.inputs[0]) : std::string());
  return true;
}

void Exporter::note_missing(const graph::Node& node, const std::string& reason) {
  Missing& missing = missing_[{std::string(node.op->name), reason}];
  ++missing.count;
  const std::string layer = owner_at(node.place);
  if (!layer.empty() && std::ranges::find(missing.layers, layer) == missing.layers.end()) missing.layers.push_back(layer);
  // Whatever follows is looked at, too.
  for (const graph::Value* output : node.outputs) e_.set(output, "missing");
  if (node.made) e_.set_symbol(node.made->symbol, "missing");
}

std::string Exporter::missing() const {
  std::vector<std::string> lines;
  for (const auto& [what, missing] : missing_) {
    std::string where = missing.count == 1 ? "once" : fmt::format("{} times", missing.count);
    if (!missing.layers.empty()) {
      constexpr size_t most = 4;
      const size_t shown = std::min(missing.layers.size(), most);
      where +=
          fmt::format(", in {}{}", fmt::join(missing.layers.begin(), missing.layers.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                      missing.layers.size() > most ? ", ..." : "");
    }
    lines.push_back(fmt::format("{} ({}): {}", what.first, where, what.second));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

void Exporter::write(const graph::Node& node) {
  if (const ConstantAttrs* literal = literal_in(*node.op, node.attrs)) {
    const Tensor number = is_floating(literal->dtype) ? tensor(std::vector<double>{literal->number}, Shape{})
                                                      : tensor(std::vector<int64_t>{literal->integer}, Shape{});
    e_.set_known(node.outputs[0], cast(number, literal->dtype), {});
    return;
  }
  if (compute(node)) return;
  e_.place = owner_at(node.place);
  const Rule* const rule = find_rule(node.op->name);
  if (rule == nullptr || rule->write == nullptr) {
    note_missing(node, rule == nullptr ? "there is no rule for it" : std::string(rule->reason));
    return;
  }
  try {
    NodeCall call(*this, e_, node, rule->widens);
    if (!write_pattern(call)) rule->write(call);
  } catch (const NoForm& why) {
    note_missing(node, why.reason);
  }
}

Names Exporter::write(const graph::Graph& graph) {
  for (const graph::Node* node : graph.nodes()) write(*node);
  Names results;
  for (const graph::Value* output : graph.outputs) results.push_back(e_.ours(output));
  return results;
}

}  // namespace anyshape::onnx::out
