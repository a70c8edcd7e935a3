// Building by a trace: layers make their weights when they are called, and nothing needs to be computed for that.
#include "model/prepare.h"

#include "function/signature.h"
#include "function/tracer.h"

namespace anyshape::model {
namespace {

void build_by_tracing(const Model& model, const std::vector<Tensor>& sample) {
  const auto signature = function_detail::Signature::open(sample);
  std::vector<int64_t> sizes;
  signature.bind(sample, sizes);
  function_detail::Tracer tracer(model.name(), signature.dense_specs(), signature.bindings(sizes));
  tracer.allow_creation();
  tracer.run([&](std::span<const Tensor> inputs) {
    call_network(model, signature.from_dense(inputs), false);
    return FunctionResults{};
  });
  std::vector<TensorSpec>& built_on = model.AnyLayer::layer()->state().built_on;
  built_on.clear();
  for (const Tensor& input : sample) built_on.push_back({input.dtype(), input.shape(), {}});  // with numbers, where the trace had symbols
}

}  // namespace

void prepare_model(const Model& model, const std::shared_ptr<Model::State>& state, Shapes shapes, const std::vector<Tensor>& sample) {
  if (!model.is_built()) build_by_tracing(model, sample);
  if (state->shapes != shapes) {
    state->shapes = shapes;
    state->train_step.reset();
    state->evaluate_step.reset();
    state->predict_step.reset();
  }
  if (!state->predict_step) state->predict_step.emplace(make_predict_step(shapes));
  if (!state->compiled) return;
  state->compiled->optimizer.build(model.trainable_variables());
  if (!state->train_step) state->train_step.emplace(make_train_step(state));
  if (!state->evaluate_step) state->evaluate_step.emplace(make_evaluate_step(*state->compiled, shapes));
}

}  // namespace anyshape::model
