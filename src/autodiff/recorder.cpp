// Recording, and the walk backwards over the records.
#include "autodiff/recorder.h"

#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

using Adjoints = std::unordered_map<const TensorImpl*, Tensor>;

void accumulate(Adjoints& adjoints, const Tensor& tensor, const Tensor& gradient) {
  const auto [place, is_new] = adjoints.try_emplace(tensor.impl().get(), gradient);
  if (!is_new) place->second = place->second + gradient;
}

// The gradients of one record's inputs from those of its outputs.
void step_back(const TapeRecord& record, const TensorSet& wanted, Adjoints& adjoints) {
  const bool is_reached = std::ranges::any_of(record.outputs, [&](const Tensor& output) { return adjoints.contains(output.impl().get()); });
  std::vector<char> flags;
  for (const Tensor& input : record.inputs) flags.push_back(wanted.contains(input.impl().get()) ? 1 : 0);
  if (!is_reached || std::ranges::none_of(flags, [](char flag) { return flag != 0; })) return;
  if (record.op->gradient == nullptr) {
    throw ArgumentError(
        fmt::format("gradient: the target depends on a source through {}, which has no gradient; expected differentiable ops on the way.",
                    record.op->name));
  }
  std::vector<Tensor> dys;
  for (const Tensor& output : record.outputs) {
    const auto found = adjoints.find(output.impl().get());
    dys.push_back(found != adjoints.end() ? found->second : full(output.shape(), make_scalar(output.dtype(), int64_t{0})));
  }
  const std::unique_ptr<bool[]> needed(new bool[flags.size()]);
  std::copy(flags.begin(), flags.end(), needed.get());
  const std::vector<Tensor> gradients = record.op->gradient({.inputs = record.inputs,
                                                             .outputs = record.outputs,
                                                             .dys = dys,
                                                             .attrs = record.attrs,
                                                             .needed = std::span<const bool>(needed.get(), flags.size())});
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (needed[i] && gradients[i].defined()) accumulate(adjoints, record.inputs[i], gradients[i]);
  }
}

}  // namespace

std::vector<Tensor> GradientTape::Recorder::run(const BoundCall& call) {
  // The call's tensors and attributes are the caller's until it returns; the outer interpreter may throw, and then nothing is recorded.
  std::vector<Tensor> outputs = scope_->outer().run(call);
  if (paused_) return outputs;
  const bool depends = std::ranges::any_of(call.inputs, [&](const Tensor& input) { return tracked_.contains(input.impl().get()); });
  const bool flows = std::ranges::any_of(outputs, [](const Tensor& output) { return is_floating(output.dtype()); });
  if (!depends || !flows) return outputs;
  for (const Tensor& output : outputs) {
    if (is_floating(output.dtype())) tracked_.insert(output.impl().get());
  }
  records_.push_back({&call.op, {call.inputs.begin(), call.inputs.end()}, outputs, call.attrs});
  return outputs;
}

void GradientTape::Recorder::on_read(const VariableState& variable, const Tensor& tensor) {
  scope_->outer().on_read(variable, tensor);
  if (paused_ || !variable.trainable || !is_floating(tensor.dtype())) return;
  tracked_.insert(tensor.impl().get());
  std::vector<Tensor>& given = readings_[variable.id];
  const auto same = [&](const Tensor& other) { return other.impl() == tensor.impl(); };
  if (std::ranges::none_of(given, same)) given.push_back(tensor);
}

void GradientTape::Recorder::watch(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) {
    throw DtypeError(fmt::format("watch: the tensor is {}{}; expected a floating dtype, since others have no gradient.",
                                 to_string(tensor.dtype()), to_string(tensor.shape())));
  }
  tracked_.insert(tensor.impl().get());
  watched_.push_back(tensor);
}

std::vector<Tensor> GradientTape::Recorder::given_by(const Variable& variable) const {
  const auto found = readings_.find(variable.state()->id);
  return found != readings_.end() ? found->second : std::vector<Tensor>();
}

TensorSet GradientTape::Recorder::dependents(const std::vector<std::vector<Tensor>>& sources) const {
  TensorSet result;
  for (const std::vector<Tensor>& source : sources) {
    for (const Tensor& tensor : source) {
      if (tracked_.contains(tensor.impl().get())) result.insert(tensor.impl().get());
    }
  }
  for (const TapeRecord& record : records_) {
    const bool depends = std::ranges::any_of(record.inputs, [&](const Tensor& input) { return result.contains(input.impl().get()); });
    if (!depends) continue;
    for (const Tensor& output : record.outputs) {
      if (is_floating(output.dtype())) result.insert(output.impl().get());
    }
  }
  return result;
}

void GradientTape::Recorder::begin_gradient() {
  if (used_ && !options_.persistent) {
    throw ArgumentError(
        "gradient: this tape has given its gradients; expected one call. Make it GradientTape({.persistent = true}) for more.");
  }
  used_ = true;
  if (!options_.persistent) scope_.reset();
}

std::vector<std::optional<Tensor>> GradientTape::Recorder::gradient(const Tensor& target, const std::vector<std::vector<Tensor>>& sources) {
  if (!target.defined()) throw ArgumentError("gradient: the target is an empty tensor handle; expected a tensor with a value.");
  if (!is_floating(target.dtype())) {
    throw DtypeError(
        fmt::format("gradient: the target is {}{}; expected a floating dtype.", to_string(target.dtype()), to_string(target.shape())));
  }
  begin_gradient();
  struct Pause {
    bool& flag;
    bool before;
    ~Pause() { flag = before; }
  } const pause{paused_, std::exchange(paused_, true)};

  const TensorSet wanted = dependents(sources);
  Adjoints adjoints;
  if (wanted.contains(target.impl().get())) {
    adjoints.emplace(target.impl().get(), full(target.shape(), make_scalar(target.dtype(), int64_t{1})));
    for (auto record = records_.rbegin(); record != records_.rend(); ++record) step_back(*record, wanted, adjoints);
  }
  std::vector<std::optional<Tensor>> result(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const Tensor& tensor : sources[i]) {
      const auto found = adjoints.find(tensor.impl().get());
      if (found == adjoints.end()) continue;
      result[i] = result[i] ? *result[i] + found->second : found->second;
    }
  }
  return result;
}

}  // namespace anyshape
