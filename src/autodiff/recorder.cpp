// Recording: what a tape follows, and when it stops.
#include "autodiff/recorder.h"

#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <algorithm>

namespace anyshape {
namespace {

bool contains(const TensorSet& set, const Tensor& tensor) { return set.find(tensor.impl().get()) != nullptr; }

}  // namespace

std::vector<Tensor> GradientTape::Recorder::run(const BoundCall& call) {
  // The call's tensors and attributes are the caller's until it returns; the outer interpreter may throw, and then nothing is recorded.
  std::vector<Tensor> outputs = scope_->outer().run(call);
  record(call.op, call.inputs, call.attrs, outputs);
  return outputs;
}

void GradientTape::Recorder::follow(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) {
  scope_->outer().follow(op, inputs, attrs, outputs);
  record(op, inputs, attrs, outputs);
}

void GradientTape::Recorder::record(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) {
  if (pauses_ > 0) return;
  const bool depends = std::ranges::any_of(inputs, [&](const Tensor& input) { return contains(tracked_, input); });
  const bool flows = std::ranges::any_of(outputs, [](const Tensor& output) { return is_floating(output.dtype()); });
  if (!depends || !flows) return;
  for (const Tensor& output : outputs) {
    if (is_floating(output.dtype())) tracked_[output.impl().get()] = true;
  }
  records_.add(op, inputs, attrs, outputs);
}

void GradientTape::Recorder::on_read(const VariableState& variable, const Tensor& tensor) {
  scope_->outer().on_read(variable, tensor);
  if (pauses_ > 0 || !follows(variable)) return;
  tracked_[tensor.impl().get()] = true;
  std::vector<Tensor>& given = readings_[variable.id];
  if (given.empty()) read_variables_.push_back({variable.id, {variable.dtype, variable.shape, variable.name}});
  const auto same = [&](const Tensor& other) { return other.impl() == tensor.impl(); };
  if (std::ranges::none_of(given, same)) given.push_back(tensor);
}

bool GradientTape::Recorder::follows(const VariableState& variable) const {
  if (watched_variables_.contains(variable.id)) return true;
  return options_.watch_variables && variable.trainable && is_floating(variable.dtype);
}

void GradientTape::Recorder::watch(const Tensor& tensor) {
  tracked_[tensor.impl().get()] = true;
  watched_.push_back(tensor);
}

void GradientTape::Recorder::watch(const Variable& variable) { watched_variables_.insert(variable.id()); }

std::vector<Tensor> GradientTape::Recorder::given_by(const Variable& variable) const {
  const auto found = readings_.find(variable.state()->id);
  return found != readings_.end() ? found->second : std::vector<Tensor>();
}

void GradientTape::Recorder::begin_gradient() {
  if (used_ && !options_.persistent) {
    throw ArgumentError(
        "gradient: this tape has given its gradients; expected one call. Make it GradientTape({.persistent = true}) for more.");
  }
  used_ = true;
  if (!options_.persistent) end();
}

std::string GradientTape::Recorder::advice() const {
  if (was_paused_) return " The tape was paused for a while: what was computed then counts as given.";
  if (used_ && options_.persistent)
    return " A tape does not record its own gradient(): for second derivatives ask another one that was made before it.";
  return "";
}

std::vector<std::optional<Tensor>> GradientTape::Recorder::gradient(std::span<const Tensor> targets, std::span<const Tensor> seeds,
                                                                    const std::vector<std::vector<Tensor>>& sources, bool through_flat) {
  begin_gradient();
  struct Pause {
    int& count;
    ~Pause() { --count; }
  } const pause{++pauses_};

  std::vector<std::vector<Tensor>> tracked(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const Tensor& tensor : sources[i]) {
      if (contains(tracked_, tensor)) tracked[i].push_back(tensor);
    }
  }
  return records_.gradient(targets, seeds, tracked, through_flat);
}

}  // namespace anyshape
