// Everything is written down that gradients could flow through.
#include "autodiff/trace_recorder.h"

#include "tensor/view.h"

#include <algorithm>

namespace anyshape {

std::vector<Tensor> TraceRecorder::run(const BoundCall& call) {
  std::vector<Tensor> outputs = scope_->outer().run(call);
  record(call.op, call.inputs, call.attrs, outputs);
  return outputs;
}

void TraceRecorder::follow(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) {
  scope_->outer().follow(op, inputs, attrs, outputs);
  record(op, inputs, attrs, outputs);
}

void TraceRecorder::record(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) {
  const auto flows = [](const Tensor& tensor) { return is_floating(tensor.dtype()); };
  if (std::ranges::any_of(inputs, flows) && std::ranges::any_of(outputs, flows)) records_.add(op, inputs, attrs, outputs);
}

void TraceRecorder::on_read(const VariableState& variable, const Tensor& tensor) {
  scope_->outer().on_read(variable, tensor);
  std::vector<Tensor>& given = readings_[variable.id];
  const auto same = [&](const Tensor& other) { return other.impl() == tensor.impl(); };
  if (std::ranges::none_of(given, same)) given.push_back(tensor);
}

std::vector<Tensor> TraceRecorder::given_by(const VariableState& variable) const {
  const auto found = readings_.find(variable.id);
  return found != readings_.end() ? found->second : std::vector<Tensor>();
}

std::vector<Tensor> TraceRecorder::taken_from_outside() const {
  std::vector<Tensor> outside;
  TensorSet known;
  for (const Tensor& tensor : records_.tensors()) {
    if (is_traced(tensor) || tensor.impl()->weak || !is_floating(tensor.dtype())) continue;
    if (!std::exchange(known[tensor.impl().get()], true)) outside.push_back(tensor);
  }
  return outside;
}

std::vector<std::optional<Tensor>> TraceRecorder::gradient(std::span<const Tensor> targets, std::span<const Tensor> seeds,
                                                           std::span<const std::vector<Tensor>> sources) const {
  const CallRecords before = records_;
  return before.gradient(targets, seeds, sources);
}

}  // namespace anyshape
