// Building by a call: layers make their weights when they are called. A trace computes nothing for that; where steps run eagerly the call does,
// too, as a callable that looks at values cannot be traced.
#include "model/prepare.h"

#include "function/signature.h"
#include "function/tracer.h"
#include "graph/variable_undo.h"
#include "nn/named_weights.h"
#include "train/optimizer_impl.h"

#include <mutex>
#include <unordered_map>

namespace anyshape::model {
namespace {

void build_by_tracing(const Model& model, const std::vector<Tensor>& sample) {
  const auto signature = function_detail::Signature::open(sample);
  std::vector<int64_t> sizes;
  signature.bind(sample, sizes);
  function_detail::Tracer tracer(model.name(), signature.dense_specs(), signature.bindings(sizes));
  tracer.allow_creation();
  tracer.run([&](std::span<const Tensor> inputs) {
    model.outputs(signature.from_dense(inputs), {.training = false});
    return FunctionResults{};
  });
  std::vector<TensorSpec> built_on;  // with numbers, where the trace had symbols
  for (const Tensor& input : sample) built_on.push_back({input.dtype(), input.shape(), {}});
  put(model.AnyLayer::layer()->state().built_on, std::move(built_on));
}

Prepared prepare(const Model& model, const std::shared_ptr<Model::State>& state, Shapes shapes, const std::vector<Tensor>& sample) {
  const bool run_eagerly = state->compiled && state->compiled->run_eagerly;
  if (!model.is_built()) run_eagerly ? static_cast<void>(call_on_sample(model, sample)) : build_by_tracing(model, sample);
  if (state->shapes != shapes) {
    state->shapes = shapes;
    put(state->train_step, {});
    put(state->evaluations, {});
    put(state->predict_step, {});
  }
  if (!state->predict_step) put(state->predict_step, make_predict_step(shapes));
  if (state->compiled) {
    build_slots(state->compiled->optimizer, model);
    if (!state->train_step) put(state->train_step, make_train_step(state));
    if (!state->evaluations) put(state->evaluations, std::make_shared<Evaluations>(*state->compiled, shapes));
  }
  return {*state->predict_step, state->evaluations, run_eagerly};
}

}  // namespace

void build_slots(Optimizer optimizer, const Model& model) {
  optimizer.build({});                              // ArgumentError for an empty handle
  std::unordered_map<uint64_t, std::string> paths;  // asked for once: most calls find all slots made
  optimizer.impl()->build(model.trainable_variables(), [&](const Variable& variable) {
    if (paths.empty()) {
      for (auto& [path, weight] : nn::named_weights(model)) paths.emplace(weight.id(), path);
    }
    return paths.at(variable.id());
  });
}

std::vector<Tensor> call_on_sample(const Model& model, const std::vector<Tensor>& sample) {
  const function_detail::RandomScope drawn(runtime::RandomState{});
  VariableUndo undo;
  std::vector<Tensor> outputs;
  try {
    outputs = model.outputs(sample, {.training = false}).tensors();
  } catch (...) {
    undo.restore();
    throw;
  }
  undo.restore();
  return outputs;
}

Prepared prepare_model(const Model& model, const std::shared_ptr<Model::State>& state, Shapes shapes, const std::vector<Tensor>& sample) {
  const std::scoped_lock lock(state->preparing);
  return prepare(model, state, shapes, sample);
}

Prepared prepare_model(const Model& model, const std::shared_ptr<Model::State>& state, const std::vector<Tensor>& sample) {
  const std::scoped_lock lock(state->preparing);
  return prepare(model, state, state->shapes, sample);
}

}  // namespace anyshape::model
