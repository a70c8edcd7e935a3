// The layer around an ONNX graph: what is declared of its inputs is held, initializers are its weights.
#include "onnx/network.h"

#include "base/cut_text.h"
#include "nn/layer_state.h"
#include "onnx/prepare.h"
#include "onnx/walk.h"
#include "ops/contraction/contract.h"
#include "shape/dim_node.h"
#include "shape/prove.h"
#include "shape/substitute.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::onnx {

Network::Network(ModelProto model, const std::string& file, const std::filesystem::path& folder, const LoadOptions& options)
    : Layer("Onnx"), file_(file) {
  require_supported(model, file);
  Prepared prepared = prepare(std::move(model), file, folder, options);
  model_ = std::make_shared<const ModelProto>(std::move(prepared.model));
  constants_ = std::move(prepared.constants);
  inputs_ = std::move(prepared.inputs);
  input_specs_ = std::move(prepared.specs);
  for (const ValueInfoProto& input : inputs_) names_.push_back(input.name);
  for (const ValueInfoProto& output : model_->graph.outputs) output_names_.push_back(output.name);
  for (auto& [name, tensor] : prepared.weights) {
    const Variable variable(tensor, {.trainable = options.trainable, .name = name});
    weights_.emplace(name, variable);
    state().weights.push_back({variable, {}});
  }
  state().is_built = true;
}

std::vector<Value> Network::run(std::span<const Value> inputs) const { return Walk(*model_, weights_).run(inputs, names_, constants_); }

// The tensors in the dtypes and under the sizes that are declared.
std::vector<Value> Network::held(std::span<const Tensor> inputs) const {
  if (inputs.size() != input_specs_.size()) {
    std::vector<std::string> names;
    for (const TensorSpec& spec : input_specs_) names.push_back(spec.name);
    throw ArgumentError(
        fmt::format("model \"{}\": got {} inputs; expected {}: {}.", state().name, inputs.size(), names.size(), listed(names)));
  }
  Substitution known;
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& spec = input_specs_[i];
    const auto refuse = [&]<class Problem>(Problem*) {
      throw Problem(fmt::format("model \"{}\": input \"{}\" is {}; expected {}, as the file declares it.", state().name, spec.name,
                                describe(inputs[i]), to_string(spec)));
    };
    if (inputs[i].is_ragged()) refuse(static_cast<ShapeError*>(nullptr));
    const Shape given = inputs[i].shape();
    if (inputs_[i].type.shape && given.rank() != spec.shape.rank()) refuse(static_cast<ShapeError*>(nullptr));
    const Dtype dtype = inputs[i].dtype();
    if (is_floating(dtype) != is_floating(spec.dtype) || (dtype == Dtype::b8) != (spec.dtype == Dtype::b8))
      refuse(static_cast<DtypeError*>(nullptr));
    Tensor tensor = dtype == spec.dtype ? inputs[i] : cast(inputs[i], spec.dtype);
    if (inputs_[i].type.shape) {
      Shape wanted = given;
      for (int axis = 0; axis < given.rank(); ++axis) {
        if (const Symbol* const symbol = as_symbol(spec.shape[axis]); symbol != nullptr) known.emplace(symbol->id, given[axis]);
        wanted[axis] = substitute(spec.shape[axis], known);
        if (proves_equal(given[axis], wanted[axis]) == false) refuse(static_cast<ShapeError*>(nullptr));
      }
      if (!given.same_as(wanted)) {
        const std::vector<std::string> names(
            static_cast<size_t>(wanted.rank()),
            fmt::format("input \"{}\" of model \"{}\", declared as {},", spec.name, state().name, to_string(spec)));
        tensor = with_sizes(tensor, wanted, names);
      }
    }
    values.emplace_back(std::move(tensor), inputs_[i].type.element);
  }
  return values;
}

std::vector<Tensor> Network::call_all(std::span<const Tensor> inputs, const CallContext&) {
  const nn::ScopedCaller caller(state());
  std::vector<Tensor> results;
  for (const Value& value : run(held(inputs))) {
    if (value.kind() != Value::Kind::Tensor && value.kind() != Value::Kind::Sizes) {
      throw Unsupported(
          fmt::format("onnx: {}: output \"{}\" is no tensor, which is not supported.", in_quotes(file_), output_names_[results.size()]));
    }
    results.push_back(value.tensor());
  }
  return results;
}

}  // namespace anyshape::onnx
