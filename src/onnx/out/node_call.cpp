// A call as rules see it: names in the layout and the dtype that are computed with.
#include "onnx/out/exporter.h"
#include "onnx/out/rule.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace anyshape::onnx::out {

NodeCall::NodeCall(Exporter& exporter, Emitter& emitter, const graph::Node& node, bool widens)
    : e(emitter), node(node), a(node.attrs), exporter_(exporter), widens_(widens) {
  if (node.op->kind == OpKind::Elementwise) choose_layout();
}

// Elementwise ops follow the layout of an image that is there in ONNX's alone.
void NodeCall::choose_layout() {
  const int rank = out_spec().shape.rank();
  channels_second_ = std::ranges::any_of(
      node.inputs, [&](const graph::Value* input) { return input->spec.shape.rank() == rank && e.is_channels_second(input); });
}

bool NodeCall::keeps_layout() {
  channels_second_ = e.is_channels_second(node.inputs[0]);
  return channels_second_;
}

int64_t NodeCall::axis(int64_t ours, int rank) const {
  if (!channels_second_ || ours == 0) return ours;
  return ours == rank - 1 ? 1 : ours + 1;
}

Dtype NodeCall::computed(Dtype dtype) const {
  if (!widens_) return dtype;
  if (dtype == Dtype::u8 || dtype == Dtype::b8) return Dtype::i32;
  return dtype == Dtype::bf16 ? Dtype::f32 : dtype;
}

std::string NodeCall::in(size_t input) {
  const graph::Value* const value = node.inputs[input];
  const int rank = value->spec.shape.rank(), wanted = out_spec().shape.rank();
  std::string name;
  const bool is_elementwise = node.op->kind == OpKind::Elementwise;
  if (!channels_second_ || rank == 0 || (!is_elementwise && rank < 3)) {
    name = e.ours(value);
  } else if (!is_elementwise || rank == wanted) {
    name = e.channels_second(value);
  } else if (const Tensor* known = e.known(value)) {  // of the last axes: with those before as 1, turned like the image
    Shape shape(std::vector<Dim>(static_cast<size_t>(wanted - rank), 1));
    for (const Dim& size : known->shape()) shape.push_back(size);
    name = e.constant(transpose(reshape(*known, shape), to_channels_second(wanted)), e.known_name(value));
  } else {
    std::vector<int64_t> before(static_cast<size_t>(wanted - rank));
    std::iota(before.begin(), before.end(), int64_t{0});
    name = add("Transpose", {add("Unsqueeze", {e.ours(value), e.integers(before)})}, {{"perm", to_channels_second(wanted)}});
  }
  const Dtype own = value->spec.dtype;
  return computed(own) == own ? name : cast(name, computed(own));
}

void NodeCall::out(size_t output, std::string name) {
  const TensorSpec& spec = node.outputs[output]->spec;
  const bool is_widened = widens_ && (spec.dtype == Dtype::u8 || spec.dtype == Dtype::bf16);
  if (is_widened) name = cast(name, spec.dtype);
  if (channels_second_ && spec.shape.rank() >= 3) {
    e.set_channels_second(node.outputs[output], std::move(name));
  } else {
    e.set(node.outputs[output], std::move(name));
  }
}

void NodeCall::out_ours(size_t output, std::string name) {
  channels_second_ = false;
  out(output, std::move(name));
}

bool NodeCall::is_used(size_t output) const { return exporter_.uses(node.outputs[output]) > 0; }
bool NodeCall::is_used_once(const graph::Value* value) const { return exporter_.uses(value) == 1; }

Names NodeCall::region(const graph::Graph& graph, std::span<const std::string> given, std::span<graph::Value* const> captured) {
  const std::vector<graph::Value*>& inputs = graph.inputs();
  if (inputs.size() != given.size() + captured.size()) throw InternalError("onnx: a region takes other values than its node gives");
  for (size_t i = 0; i < given.size(); ++i) e.set(inputs[i], given[i]);
  for (size_t i = 0; i < captured.size(); ++i) e.copy(inputs[given.size() + i], captured[i]);
  return exporter_.write(graph);
}

int64_t NodeCall::constant(const Dim& size, std::string_view what) const {
  if (!size.is_constant()) no_form(fmt::format("{} is \"{}\", which is known at the call only", what, to_string(size)));
  return size.value();
}

}  // namespace anyshape::onnx::out
