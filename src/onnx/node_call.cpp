// Inputs and attributes of a node, held to what its rule asks for.
#include "base/cut_text.h"
#include "graph/outside_trace.h"
#include "onnx/rule.h"
#include "onnx/walk.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::onnx {

using Type = AttributeProto::Type;

NodeCall::NodeCall(Walk& walk, const Scope& scope, const NodeProto& node, std::vector<Value> inputs, int64_t opset)
    : walk_(&walk), scope_(&scope), node_(&node), inputs_(std::move(inputs)), opset_(opset) {}

const std::string& NodeCall::op() const { return node_->op; }
size_t NodeCall::outputs() const { return node_->outputs.size(); }
bool NodeCall::wants(size_t output) const { return output < node_->outputs.size() && !node_->outputs[output].empty(); }
std::string NodeCall::title() const { return title_of(*node_); }

void NodeCall::fail(std::string_view what, std::string_view expected) const {
  throw FormatError(fmt::format("onnx: {}: {}; expected {}.", title(), what, expected));
}
void NodeCall::unsupported(std::string_view what) const { throw Unsupported(fmt::format("onnx: {}: {} is not supported.", title(), what)); }

const Value& NodeCall::value(size_t input) const {
  if (!has(input)) fail(fmt::format("input {} is left out", input), "it to be there");
  return inputs_[input];
}

Tensor NodeCall::tensor(size_t input) const {
  const Value& given = value(input);
  if (given.kind() == Value::Kind::Sequence) fail(fmt::format("input {} is a sequence", input), "a tensor");
  return given.tensor();
}

std::vector<Tensor> NodeCall::tensors() const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < inputs_.size(); ++i) all.push_back(tensor(i));
  return all;
}

std::vector<Dim> NodeCall::sizes(size_t input) const {
  const Value& given = value(input);
  if (std::optional<std::vector<Dim>> known = given.known_sizes()) return std::move(*known);
  if (given.kind() != Value::Kind::Tensor || is_floating(given.dtype()) || given.rank() > 1) {
    fail(fmt::format("input {} is {}", input, given.kind() == Value::Kind::Tensor ? describe(given.held()) : "no tensor"),
         "a vector of whole numbers");
  }
  unsupported(fmt::format("that input {}, which sizes depend on, is computed from data,", input));
}

Dim NodeCall::size(size_t input) const {
  const std::vector<Dim> all = sizes(input);
  if (all.size() != 1) fail(fmt::format("input {} has {} elements", input, all.size()), "one");
  return all[0];
}

std::vector<int64_t> NodeCall::integers(size_t input) const {
  std::vector<int64_t> numbers;
  for (const Dim& size : sizes(input)) {
    if (!size.is_constant()) unsupported(fmt::format("that input {} depends on sizes", input));
    numbers.push_back(size.value());
  }
  return numbers;
}

int64_t NodeCall::integer(size_t input) const {
  const std::vector<int64_t> all = integers(input);
  if (all.size() != 1) fail(fmt::format("input {} has {} elements", input, all.size()), "one");
  return all[0];
}

Tensor NodeCall::constant(size_t input) const {
  const Tensor given = tensor(input);
  if (is_traced(given)) unsupported(fmt::format("that input {} is computed from data", input));
  return given;
}

std::vector<double> NodeCall::numbers(size_t input) const {
  const Tensor given = constant(input);
  const OutsideTrace outside;
  return cast(given, Dtype::f64).to_vector<double>();
}

double NodeCall::number(size_t input) const {
  const std::vector<double> all = numbers(input);
  if (all.size() != 1) fail(fmt::format("input {} has {} elements", input, all.size()), "one");
  return all[0];
}

// Of a node in a function's body an attribute may be the caller's, whose own may again be its caller's.
const AttributeProto* NodeCall::attribute(std::string_view name) const {
  const NodeProto* node = node_;
  const Scope* scope = scope_;
  std::string wanted(name);
  while (node != nullptr) {
    const auto found = std::ranges::find(node->attributes, wanted, &AttributeProto::name);
    if (found == node->attributes.end()) return nullptr;
    if (found->ref.empty()) return &*found;
    wanted = found->ref;
    const FunctionProto* const function = scope != nullptr ? scope->function : nullptr;
    const NodeProto* const caller = scope != nullptr ? scope->caller : nullptr;
    if (caller == nullptr) return nullptr;
    if (std::ranges::find(caller->attributes, wanted, &AttributeProto::name) == caller->attributes.end()) {
      const auto standard = std::ranges::find(function->defaults, wanted, &AttributeProto::name);
      return standard == function->defaults.end() ? nullptr : &*standard;
    }
    node = caller;
    scope = scope->caller_scope;
  }
  return nullptr;
}

const AttributeProto* NodeCall::attribute(std::string_view name, int32_t type, std::string_view in_words) const {
  const AttributeProto* const found = attribute(name);
  if (found != nullptr && static_cast<int32_t>(found->type) != type)
    fail(fmt::format("attribute \"{}\" is of another type", name), in_words);
  return found;
}

bool NodeCall::has(std::string_view name) const { return attribute(name) != nullptr; }

int64_t NodeCall::integer(std::string_view name, int64_t otherwise) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::Int), "a whole number");
  return found != nullptr ? found->i : otherwise;
}
int64_t NodeCall::integer(std::string_view name) const {
  if (!has(name)) fail(fmt::format("attribute \"{}\" is missing", name), "a whole number");
  return integer(name, 0);
}
double NodeCall::number(std::string_view name, double otherwise) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::Float), "a number");
  return found != nullptr ? static_cast<double>(found->f) : otherwise;
}
std::string NodeCall::text(std::string_view name, std::string_view otherwise) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::String), "a text");
  return found != nullptr ? found->s : std::string(otherwise);
}
std::vector<int64_t> NodeCall::integers(std::string_view name, const std::vector<int64_t>& otherwise) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::Ints), "whole numbers");
  return found != nullptr ? found->ints : otherwise;
}
std::vector<double> NodeCall::numbers(std::string_view name, const std::vector<double>& otherwise) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::Floats), "numbers");
  return found != nullptr ? std::vector<double>(found->floats.begin(), found->floats.end()) : otherwise;
}
std::vector<std::string> NodeCall::texts(std::string_view name, const std::vector<std::string>& otherwise) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::Strings), "texts");
  return found != nullptr ? found->strings : otherwise;
}
Value NodeCall::tensor(std::string_view name) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::Tensor), "a tensor");
  if (found == nullptr) fail(fmt::format("attribute \"{}\" is missing", name), "a tensor");
  if (found->t == nullptr) fail(fmt::format("attribute \"{}\" holds nothing", name), "a tensor");
  if (!found->tensor.defined()) unsupported(fmt::format("a tensor of {}", name_of(found->t->type)));
  return Value::constant(found->tensor, found->t->type);
}
const GraphProto& NodeCall::graph(std::string_view name) const {
  const AttributeProto* const found = attribute(name, static_cast<int32_t>(Type::Graph), "a graph");
  if (found == nullptr || found->g == nullptr) fail(fmt::format("attribute \"{}\" is missing", name), "a graph");
  return *found->g;
}
ElementType NodeCall::type(std::string_view name, ElementType otherwise) const {
  return static_cast<ElementType>(integer(name, static_cast<int64_t>(otherwise)));
}
Dtype NodeCall::dtype_of(ElementType type) const {
  const std::optional<Dtype> dtype = dtype_for(type);
  if (!dtype) unsupported("the element type " + name_of(type));
  return *dtype;
}
Dtype NodeCall::dtype(std::string_view name, Dtype otherwise) const { return dtype_of(type(name, element_type_of(otherwise))); }

std::vector<Value> NodeCall::run(const GraphProto& graph, std::vector<Value> inputs) const {
  return walk_->run(graph, *scope_, std::move(inputs));
}

int64_t NodeCall::axis(int64_t given, int rank) const {
  if (given < -rank || given >= std::max(rank, 1))
    fail(fmt::format("axis {} of a tensor of rank {}", given, rank), fmt::format("one from {} to {}", -rank, rank - 1));
  return given < 0 ? given + rank : given;
}
std::vector<int64_t> NodeCall::axes(const std::vector<int64_t>& given, int rank) const {
  std::vector<int64_t> all;
  for (const int64_t each : given) all.push_back(axis(each, rank));
  return all;
}

}  // namespace anyshape::onnx
