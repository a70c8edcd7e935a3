// How each op is said in ONNX: a rule per op, found by its name. A rule reads the call of the op and gives names for its results.
#pragma once
#include "onnx/out/attribute_table.h"
#include "onnx/out/emitter.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace anyshape::onnx::out {

// Thrown by rules, and caught before the user sees it: all that has no form is told at once.
struct NoForm {
  std::string reason;
};

class Exporter;

class NodeCall {
 public:
  NodeCall(Exporter& exporter, Emitter& emitter, const graph::Node& node, bool widens);

  Emitter& e;
  const graph::Node& node;
  const AttributeTable a;

  size_t inputs() const { return node.inputs.size(); }
  const TensorSpec& spec(size_t input) const { return node.inputs[input]->spec; }
  const Shape& shape(size_t input) const { return spec(input).shape; }
  int rank(size_t input) const { return shape(input).rank(); }
  const TensorSpec& out_spec(size_t output = 0) const { return node.outputs[output]->spec; }
  Dtype dtype() const { return computed(spec(0).dtype); }  // of input 0 as in() gives it

  std::string in(size_t input);  // in the layout and dtype that is computed with
  void out(std::string name) { out(0, std::move(name)); }
  void out(size_t output, std::string name);       // in the same layout; in the dtype that is computed with
  void out_ours(size_t output, std::string name);  // as our graph has it
  bool is_used(size_t output) const;
  bool is_used_once(const graph::Value* value) const;

  // Images: with channels behind the rows.
  bool keeps_layout();  // the first input is there in that layout alone; the call follows it
  void use_channels_second() { channels_second_ = true; }
  bool is_channels_second() const { return channels_second_; }
  int64_t axis(int64_t ours, int rank) const;  // where an axis of ours is in the layout that is computed with

  std::string add(std::string_view op, Names inputs, Attributes attributes = {}) {
    return e.add(op, std::move(inputs), std::move(attributes));
  }
  std::string number(double value) { return e.number(dtype(), value); }
  std::string cast(const std::string& name, Dtype dtype) { return add("Cast", {name}, {{"to", element_type(dtype)}}); }
  // The text of this region, its inputs being these values of ours or names.
  Names region(const graph::Graph& graph, std::span<const std::string> given, std::span<graph::Value* const> captured);
  [[noreturn]] void no_form(std::string reason) const { throw NoForm{std::move(reason)}; }
  int64_t constant(const Dim& size, std::string_view what) const;  // NoForm where it is not known

 private:
  Dtype computed(Dtype dtype) const;
  void choose_layout();
  Exporter& exporter_;
  bool widens_;
  bool channels_second_ = false;
};

struct Rule {
  std::string_view op;
  void (*write)(NodeCall& call) = nullptr;  // none: the op has no form, for the reason
  std::string_view reason = {};
  bool widens = false;  // ONNX Runtime computes f32, f64, i32 and i64: u8 and b8 are computed as i32, bf16 as f32
};

std::span<const Rule> elementwise_rules();
std::span<const Rule> reduce_rules();
std::span<const Rule> contraction_rules();
std::span<const Rule> image_rules();
std::span<const Rule> movement_rules();
std::span<const Rule> index_rules();
std::span<const Rule> segment_rules();
std::span<const Rule> source_rules();
std::span<const Rule> control_rules();
const Rule* find_rule(std::string_view op);  // null: there is none

// The values of a graph by their ops, for rules that look for more than one op.
bool is_op(const graph::Value* value, std::string_view op);
bool is_number(const Emitter& emitter, const graph::Value* value, double number);  // a constant of one element

// Several ops that ONNX has one for, where this call is the last of them; false where it is not.
bool write_pattern(NodeCall& call);
// A factor or a term per channel that follows a convolution becomes part of its weights; false where it does not.
bool fold_into_convolution(NodeCall& call);

// Pooling of any image to results of a given number, with channels behind the rows.
void write_adaptive_pool(NodeCall& call, bool is_max);

// A recurrent layer's loop as ONNX's own node; false where it is none of those.
bool write_recurrent(NodeCall& call);

}  // namespace anyshape::onnx::out
