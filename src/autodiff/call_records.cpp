// Recorded calls, and the gradients that flow back through them.
#include "autodiff/call_records.h"

#include "graph/layer_path.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace anyshape {
namespace {

using Adjoints = PointerTable<TensorImpl, Tensor>;

bool contains(const TensorSet& set, const Tensor& tensor) { return set.find(tensor.impl().get()) != nullptr; }

void accumulate(Adjoints& adjoints, const Tensor& tensor, const Tensor& gradient) {
  Tensor& sum = adjoints[tensor.impl().get()];
  sum = sum.defined() ? sum + gradient : gradient;
}

// A record with its tensors.
struct RecordedCall {
  const OpDef* op;
  const Attrs& attrs;
  std::span<const Tensor> inputs, outputs;
};

// The gradients of one record's inputs from those of its outputs.
void pull_back(const RecordedCall& record, const TensorSet& wanted, Adjoints& adjoints) {
  const bool is_reached =
      std::ranges::any_of(record.outputs, [&](const Tensor& output) { return adjoints.find(output.impl().get()) != nullptr; });
  std::vector<char> flags;
  for (const Tensor& input : record.inputs) flags.push_back(contains(wanted, input) ? 1 : 0);
  if (!is_reached || std::ranges::none_of(flags, [](char flag) { return flag != 0; })) return;
  if (record.op->gradient == nullptr) {
    throw ArgumentError(
        fmt::format("gradient: the target depends on a source through {}, which has no gradient; expected differentiable ops on the way.",
                    record.op->name));
  }
  std::vector<Tensor> dys;
  const std::unique_ptr<bool[]> reached(new bool[record.outputs.size()]);
  for (const Tensor& output : record.outputs) {
    const Tensor* const found = adjoints.find(output.impl().get());
    reached[dys.size()] = found != nullptr;
    dys.push_back(found != nullptr ? *found : zeros_like(output));
  }
  const std::unique_ptr<bool[]> needed(new bool[flags.size()]);
  std::copy(flags.begin(), flags.end(), needed.get());
  const std::vector<Tensor> gradients = record.op->gradient({.inputs = record.inputs,
                                                             .outputs = record.outputs,
                                                             .dys = dys,
                                                             .attrs = record.attrs,
                                                             .needed = std::span<const bool>(needed.get(), flags.size()),
                                                             .reached = std::span<const bool>(reached.get(), dys.size())});
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (needed[i] && gradients[i].defined()) accumulate(adjoints, record.inputs[i], gradients[i]);
  }
}

}  // namespace

void CallRecords::add(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) {
  records_.push_back({&op, attrs, tensors_.size(), inputs.size(), outputs.size(), current_place()});
  tensors_.insert(tensors_.end(), inputs.begin(), inputs.end());
  tensors_.insert(tensors_.end(), outputs.begin(), outputs.end());
}

TensorSet CallRecords::dependents(std::span<const std::vector<Tensor>> sources) const {
  TensorSet result;
  for (const std::vector<Tensor>& source : sources) {
    for (const Tensor& tensor : source) result[tensor.impl().get()] = true;
  }
  for (const Record& record : records_) {
    const bool depends = std::ranges::any_of(inputs_of(record), [&](const Tensor& input) { return contains(result, input); });
    if (!depends) continue;
    for (const Tensor& output : outputs_of(record)) {
      if (is_floating(output.dtype())) result[output.impl().get()] = true;
    }
  }
  return result;
}

std::vector<std::optional<Tensor>> CallRecords::gradient(std::span<const Tensor> targets, std::span<const Tensor> seeds,
                                                         std::span<const std::vector<Tensor>> sources, bool through_flat) const {
  const ScopedGradientOf nothing_else("");
  const TensorSet wanted = dependents(sources);
  Adjoints adjoints;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (contains(wanted, targets[i])) accumulate(adjoints, targets[i], seeds.empty() ? ones_like(targets[i]) : seeds[i]);
  }
  if (!adjoints.empty()) {
    for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
      if (!through_flat && record->op->traits.is_flat) continue;
      const ScopedGradientOf call(record->place);
      pull_back({record->op, record->attrs, inputs_of(*record), outputs_of(*record)}, wanted, adjoints);
    }
  }
  std::vector<std::optional<Tensor>> result(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const Tensor& tensor : sources[i]) {
      const Tensor* const found = adjoints.find(tensor.impl().get());
      if (found != nullptr) result[i] = result[i] ? *result[i] + *found : *found;
    }
  }
  return result;
}

}  // namespace anyshape
