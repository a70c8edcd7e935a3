// Names, constants and layouts.
#include "onnx/out/emitter.h"

#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace anyshape::onnx::out {
namespace {

// Equal small constants are one.
constexpr int64_t most_shared_bytes = 4096;

void note_uses(const std::vector<NodeText>& nodes, std::set<std::string, std::less<>>& used) {
  for (const NodeText& node : nodes) {
    for (const std::string& input : node.inputs) used.insert(input);
    for (const Attribute& attribute : node.attributes) {
      if (const auto* graph = std::get_if<std::shared_ptr<GraphText>>(&attribute.value)) {
        note_uses((*graph)->nodes, used);
        for (const ValueText& output : (*graph)->outputs) used.insert(output.name);
      }
    }
  }
}

// Nodes that give what is used, from the last to the first.
void drop_unused(std::vector<NodeText>& nodes, std::set<std::string, std::less<>>& used) {
  std::vector<NodeText> kept;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool is_used = std::ranges::any_of(node->outputs, [&](const std::string& output) { return used.contains(output); });
    if (!is_used) continue;
    for (Attribute& attribute : node->attributes) {
      const auto* graph = std::get_if<std::shared_ptr<GraphText>>(&attribute.value);
      if (graph == nullptr) continue;
      std::set<std::string, std::less<>> inside;
      for (const ValueText& output : (*graph)->outputs) inside.insert(output.name);
      drop_unused((*graph)->nodes, inside);
      used.merge(inside);
    }
    for (const std::string& input : node->inputs) used.insert(input);
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  nodes = std::move(kept);
}

void rename(std::vector<NodeText>& nodes, const std::map<std::string, std::string>& renamed) {
  const auto replace = [&](std::string& name) {
    if (const auto found = renamed.find(name); found != renamed.end()) name = found->second;
  };
  for (NodeText& node : nodes) {
    std::ranges::for_each(node.inputs, replace);
    std::ranges::for_each(node.outputs, replace);
    for (Attribute& attribute : node.attributes) {
      if (const auto* graph = std::get_if<std::shared_ptr<GraphText>>(&attribute.value)) rename((*graph)->nodes, renamed);
    }
  }
}

}  // namespace

std::vector<int64_t> to_channels_second(int rank) {
  std::vector<int64_t> order{0, rank - 1};
  for (int64_t axis = 1; axis + 1 < rank; ++axis) order.push_back(axis);
  return order;
}

std::vector<int64_t> to_channels_last(int rank) {
  std::vector<int64_t> order{0};
  for (int64_t axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

std::string Emitter::unique(std::string wanted) {
  if (names_.insert(wanted).second) return wanted;
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}_{}", wanted, number);
    if (names_.insert(name).second) return name;
  }
}

std::string Emitter::fresh(std::string_view what) {
  const auto found = counts_.emplace(what, 0).first;
  return unique(fmt::format("{}:{}", what, found->second++));
}

Names Emitter::add_all(std::string_view op, Names inputs, size_t outputs, Attributes attributes) {
  NodeText node{.op = std::string(op), .inputs = std::move(inputs), .outputs = {}, .attributes = std::move(attributes), .place = place};
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(fresh(op));
  current_->push_back(node);
  return node.outputs;
}

std::string Emitter::in_root(const std::function<std::string()>& make) {
  std::vector<NodeText>* const around = std::exchange(current_, &nodes_);
  std::string around_place = std::exchange(place, {});
  std::string made = make();
  current_ = around;
  place = std::move(around_place);
  return made;
}

std::string Emitter::constant(const Tensor& given, std::string_view name) {
  const Tensor value = contiguous(given);
  const int64_t bytes = value.shape().count().value() * size_of(value.dtype());
  if (bytes > most_shared_bytes || !name.empty()) {
    initializers_.push_back({unique(std::string(name.empty() ? "constant" : name)), value});
    if (!name.empty() && initializers_.back().name != name) wanted_.emplace(initializers_.back().name, name);
    return initializers_.back().name;
  }
  std::string key = describe(value);
  if (bytes > 0) key.append(host_data(value), static_cast<size_t>(bytes));
  std::string& found = constants_[key];
  if (found.empty()) {
    initializers_.push_back({fresh("constant"), value});
    found = initializers_.back().name;
  }
  return found;
}

std::string Emitter::number(Dtype dtype, double value) { return constant(cast(tensor(std::vector<double>{value}, Shape{}), dtype), {}); }
std::string Emitter::integers(const std::vector<int64_t>& values) {
  return constant(tensor(values, {static_cast<int64_t>(values.size())}), {});
}

void Emitter::set_known(const graph::Value* value, Tensor known, std::string name) {
  forms_[value] = {.ours = {}, .channels_second = {}, .known = std::move(known), .known_name = std::move(name)};
}

const Tensor* Emitter::known(const graph::Value* value) const {
  const auto found = forms_.find(value);
  return found != forms_.end() && found->second.known ? &*found->second.known : nullptr;
}

std::string Emitter::known_name(const graph::Value* value) const { return forms_.at(value).known_name; }

bool Emitter::is_channels_second(const graph::Value* value) const {
  const auto found = forms_.find(value);
  return found != forms_.end() && found->second.ours.empty() && !found->second.channels_second.empty();
}

std::string Emitter::ours(const graph::Value* value) {
  const auto found = forms_.find(value);
  if (found == forms_.end()) throw InternalError("onnx: a value is used before it is made");
  Forms& forms = found->second;
  if (!forms.ours.empty()) return forms.ours;
  if (forms.known) return forms.ours = constant(*forms.known, forms.known_name);
  return forms.ours = add("Transpose", {forms.channels_second}, {{"perm", to_channels_last(value->spec.shape.rank())}});
}

std::string Emitter::channels_second(const graph::Value* value) {
  Forms& forms = forms_.at(value);
  const int rank = value->spec.shape.rank();
  if (!forms.channels_second.empty()) return forms.channels_second;
  if (forms.known) return forms.channels_second = constant(transpose(*forms.known, to_channels_second(rank)), forms.known_name);
  return forms.channels_second = add("Transpose", {forms.ours}, {{"perm", to_channels_second(rank)}});
}

// What the region would make of it could not be seen around it: constants stay constants, everything else is made here.
void Emitter::copy(const graph::Value* to, const graph::Value* from) {
  if (known(from) == nullptr) {
    set(to, ours(from));
    return;
  }
  const std::string name = ours(from);
  forms_[to] = {.ours = name, .channels_second = {}, .known = *known(from), .known_name = known_name(from)};
}

std::shared_ptr<GraphText> Emitter::subgraph(std::string_view name, const std::function<Names()>& body) {
  auto graph = std::make_shared<GraphText>();
  graph->name = unique(std::string(name));
  std::vector<NodeText>* const around = std::exchange(current_, &graph->nodes);
  Names results;
  try {
    results = body();
  } catch (...) {
    current_ = around;
    throw;
  }
  std::set<std::string> given;
  for (std::string& result : results) {
    const bool is_made_here = std::ranges::any_of(
        graph->nodes, [&](const NodeText& node) { return std::ranges::find(node.outputs, result) != node.outputs.end(); });
    if (!is_made_here || given.contains(result)) result = add("Identity", {result});
    given.insert(result);
    graph->outputs.push_back({.name = result, .is_typed = false});
  }
  current_ = around;
  return graph;
}

GraphText Emitter::finish(std::string name, std::vector<ValueText> inputs, std::vector<ValueText> outputs, const Names& results) {
  std::set<std::string, std::less<>> used(results.begin(), results.end());
  drop_unused(nodes_, used);
  std::map<std::string, std::string> renamed;
  Names last;  // of results that no node gives, or that two outputs are
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_made = std::ranges::any_of(
        nodes_, [&](const NodeText& node) { return std::ranges::find(node.outputs, results[i]) != node.outputs.end(); });
    if (is_made && renamed.emplace(results[i], outputs[i].name).second) continue;
    nodes_.push_back({.op = "Identity", .inputs = {results[i]}, .outputs = {outputs[i].name}, .attributes = {}, .place = {}});
  }
  rename(nodes_, renamed);
  used.clear();
  note_uses(nodes_, used);
  std::erase_if(initializers_, [&](const Initializer& each) { return !used.contains(each.name); });
  // A weight that others were made of is gone: the last of them has its name.
  for (const ValueText& output : outputs) used.insert(output.name);
  for (const ValueText& input : inputs) used.insert(input.name);
  renamed.clear();
  for (Initializer& each : initializers_) {
    const auto wanted = wanted_.find(each.name);
    if (wanted == wanted_.end() || !used.insert(wanted->second).second) continue;
    renamed.emplace(each.name, wanted->second);
    each.name = wanted->second;
  }
  rename(nodes_, renamed);
  return {.name = std::move(name),
          .nodes = std::move(nodes_),
          .initializers = std::move(initializers_),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs)};
}

}  // namespace anyshape::onnx::out
