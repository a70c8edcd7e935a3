// How an ONNX op becomes ours: a rule per op and opset. Rules stand in tables, one per family, in src/onnx/ops/.
//
//   Results relu_rule(NodeCall& call) { return relu(call.tensor(0)); }
//   const RuleEntry entries[] = {{"Relu", 1, relu_rule, {.is_elementwise = true}}};
//   const RuleTable elementwise_rules = entries;      // declared at the end of this file, listed in rules.cpp
#pragma once
#include "onnx/value.h"

#include <anyshape/error.h>
#include <anyshape/tensor.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::onnx {

struct NodeProto;
struct GraphProto;
struct AttributeProto;
class Walk;
struct Scope;

// A form of an op that is not supported: FormatError with the node and the reason.
class Unsupported : public FormatError {
  using FormatError::FormatError;
};

// What a rule gives: the node's outputs in order. Fewer than the node names is an error; more are dropped.
struct Results {
  Results(Tensor tensor) { values.emplace_back(std::move(tensor)); }
  Results(Value value) { values.push_back(std::move(value)); }
  Results(std::initializer_list<Value> all) : values(all) {}
  explicit Results(std::vector<Value> all) : values(std::move(all)) {}
  explicit Results(const std::vector<Tensor>& all) : values(all.begin(), all.end()) {}
  std::vector<Value> values;
};

// One node that is met: its inputs, its attributes, and how to say what is wrong. The same while a function is traced and eagerly.
class NodeCall {
 public:
  NodeCall(Walk& walk, const Scope& scope, const NodeProto& node, std::vector<Value> inputs, int64_t opset);

  const std::string& op() const;
  int64_t opset() const { return opset_; }  // of the node's domain
  size_t outputs() const;                   // that the node names; an unused one may have the name ""
  bool wants(size_t output) const;          // whether that output has a name

  // Inputs. An input that is left out, or behind the last, is not there.
  size_t inputs() const { return inputs_.size(); }
  bool has(size_t input) const { return input < inputs_.size() && inputs_[input].is_given(); }
  const Value& value(size_t input) const;  // FormatError where it is left out
  Tensor tensor(size_t input) const;       // in ONNX's order of axes
  Tensor tensor_or(size_t input, const Tensor& otherwise) const { return has(input) ? tensor(input) : otherwise; }
  std::vector<Tensor> tensors() const;  // all of them
  Dtype dtype(size_t input) const { return value(input).dtype(); }
  ElementType type(size_t input) const { return value(input).type(); }  // int8 where dtype() is i32
  Shape shape(size_t input) const { return value(input).shape(); }
  int rank(size_t input) const { return value(input).rank(); }
  // Whole numbers of rank 0 or 1 that must be known while the graph is traced: axes, shapes, repeats, ... Unsupported where they are data.
  std::vector<Dim> sizes(size_t input) const;
  Dim size(size_t input) const;                       // one of them
  std::vector<int64_t> integers(size_t input) const;  // likewise, and numbers for every size
  int64_t integer(size_t input) const;
  std::vector<double> numbers(size_t input) const;  // elements of a constant, e.g. scales
  double number(size_t input) const;
  Tensor constant(size_t input) const;  // Unsupported where it is no constant

  // Attributes: the node's, or what is said here. FormatError for one of another type.
  bool has(std::string_view attribute) const;
  int64_t integer(std::string_view attribute, int64_t otherwise) const;
  int64_t integer(std::string_view attribute) const;  // FormatError where it is missing, here and below
  bool flag(std::string_view attribute, bool otherwise = false) const { return integer(attribute, otherwise ? 1 : 0) != 0; }
  double number(std::string_view attribute, double otherwise) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  std::vector<int64_t> integers(std::string_view attribute, const std::vector<int64_t>& otherwise = {}) const;
  std::vector<double> numbers(std::string_view attribute, const std::vector<double>& otherwise = {}) const;
  std::vector<std::string> texts(std::string_view attribute, const std::vector<std::string>& otherwise = {}) const;
  Value tensor(std::string_view attribute) const;                             // a constant
  ElementType type(std::string_view attribute, ElementType otherwise) const;  // "to", "dtype"
  Dtype dtype(std::string_view attribute, Dtype otherwise) const;             // Unsupported for a type without a dtype
  const GraphProto& graph(std::string_view attribute) const;
  // Runs a graph that is an attribute: it sees the values around the node. Its outputs.
  std::vector<Value> run(const GraphProto& graph, std::vector<Value> inputs) const;

  // An axis of a tensor of that rank, from 0 on; FormatError outside.
  int64_t axis(int64_t given, int rank) const;
  std::vector<int64_t> axes(const std::vector<int64_t>& given, int rank) const;
  Dtype dtype_of(ElementType type) const;  // Unsupported for a type without a dtype

  // The same node with other inputs.
  NodeCall with_inputs(std::vector<Value> inputs) const {
    NodeCall call = *this;
    call.inputs_ = std::move(inputs);
    return call;
  }

  [[noreturn]] void fail(std::string_view what, std::string_view expected) const;  // FormatError: the file breaks ONNX's rule
  [[noreturn]] void unsupported(std::string_view what) const;                      // Unsupported: ONNX has it, the library has not
  std::string title() const;                                                       // `node "conv1" (Conv)`

 private:
  const AttributeProto* attribute(std::string_view name) const;
  const AttributeProto* attribute(std::string_view name, int32_t type, std::string_view in_words) const;

  Walk* walk_;
  const Scope* scope_;
  const NodeProto* node_;
  std::vector<Value> inputs_;
  int64_t opset_;
};

using Rule = Results (*)(NodeCall& call);

struct RuleOptions {
  // Element by element, with ONNX's broadcasting: the inputs may be given with their axes in another order, the same for all. Then call.tensor(i) is
  // the tensor in that order, and the rule must not look at axes.
  bool is_elementwise = false;
  // Takes images as they are held (Value::is_image) and gives such: it asks value(i), not tensor(i).
  bool takes_images = false;
  bool is_random = false;  // draws numbers: never computed once and for all
};

// For opsets from `since` on, up to the next entry of the same op.
struct RuleEntry {
  std::string_view op;
  int64_t since;
  Rule rule;
  RuleOptions options = {};
  std::string_view domain = "";
};
using RuleTable = std::span<const RuleEntry>;

// The rule for an op of an opset; null where there is none.
const RuleEntry* find_rule(std::string_view domain, std::string_view op, int64_t opset);
bool is_known_op(std::string_view domain, std::string_view op);  // for some opset

// The tables, one per file of src/onnx/ops/.
extern const RuleTable elementwise_rules, activation_rules, reduce_rules, movement_rules, index_rules, contraction_rules, recurrent_rules,
    attention_rules, quantize_rules, random_rules, loss_rules, make_rules, cast_rules, sequence_rules, control_rules, image_rules,
    normalization_rules, signal_rules, resize_rules;
extern const RuleTable function_rules, bitwise_rules, softmax_rules, slice_rules, order_rules, scatter_rules, layer_normalization_rules,
    training_rules, linear_attention_rules, runtime_rules, sampling_rules, quantized_image_rules, box_rules, col2im_rules;

}  // namespace anyshape::onnx
