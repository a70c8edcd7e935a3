// GradientTape and value_and_gradients: the public face of the recorder, with the errors that name a source.
#include "autodiff/fitted_gradient.h"
#include "autodiff/recorder.h"
#include "tensor/partition.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

constexpr std::string_view floating_rule = "expected a floating dtype, since others have no gradient";

std::string name_of(const Variable& variable, size_t number) {
  return variable.name().empty() ? fmt::format("source {} (a variable without name)", number)
                                 : fmt::format("variable \"{}\"", variable.name());
}

// Gradients flow through the values of ragged tensors: their rows are data.
std::vector<Tensor> values_of(std::span<const Tensor> tensors) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.defined() ? tensor.values() : tensor);
  return result;
}

void require_targets(std::span<const Tensor> targets) {
  for (const Tensor& target : targets) {
    if (!target.defined()) throw ArgumentError("gradient: the target is an empty tensor handle; expected a tensor with a value.");
    if (!is_floating(target.dtype()))
      throw DtypeError(fmt::format("gradient: the target is {}; expected a floating dtype.", describe(target)));
  }
}

std::vector<Tensor> seeds_of(std::span<const Tensor> targets, std::span<const Tensor> given) {
  if (!given.empty() && given.size() != targets.size()) {
    throw ArgumentError(
        fmt::format("gradient: got {} output gradients for {} targets; expected one each, or none.", given.size(), targets.size()));
  }
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].defined())
      throw ArgumentError(fmt::format("gradient: output gradient {} is an empty tensor handle; expected a tensor with a value.", i));
    seeds.push_back(fitted_gradient("gradient", fmt::format("output gradient {}", i), given[i], fmt::format("target {}", i), targets[i]));
  }
  return seeds;
}

// A source as errors and zeros need it.
struct Source {
  std::string name;
  std::vector<Tensor> tensors;  // those that count as it
  TensorSpec spec;
  std::string advice;  // should no target depend on it
};

Tensor zeros_of(const TensorSpec& spec) { return zeros(spec.shape, {.dtype = spec.dtype}); }

template <class Recorder>
std::vector<Tensor> gradients_of(Recorder& recorder, std::span<const Tensor> given, std::span<const Source> sources,
                                 const GradientOptions& options) {
  const std::vector<Tensor> targets = values_of(given);
  require_targets(targets);
  std::vector<std::vector<Tensor>> tensors;
  for (const Source& source : sources) {
    if (!is_floating(source.spec.dtype))
      throw DtypeError(
          fmt::format("gradient: {} is {}; {}. Cast it before it is used.", source.name, to_string(source.spec), floating_rule));
    tensors.push_back(source.tensors);
  }
  const std::vector<std::optional<Tensor>> found = recorder.gradient(targets, seeds_of(targets, values_of(options.output_gradients)),
                                                                     tensors, options.unreached != Unreached::Undefined);
  std::vector<Tensor> result;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!found[i] && options.unreached == Unreached::Error) {
      throw ArgumentError(fmt::format(
          "gradient: the target does not depend on {}; expected sources that it was computed from under this tape. {}{} Ask for "
          "zeros with {{.unreached = as::Unreached::Zeros}}.",
          sources[i].name, sources[i].advice, recorder.advice()));
    }
    result.push_back(found[i] ? *found[i] : options.unreached == Unreached::Undefined ? Tensor() : zeros_of(sources[i].spec));
  }
  return result;
}

}  // namespace

GradientTape::GradientTape(TapeOptions options) : recorder_(std::make_shared<Recorder>(options)) {}
GradientTape::~GradientTape() { recorder_->end(); }

GradientTape::Pause::Pause(std::shared_ptr<Recorder> recorder) : recorder_(std::move(recorder)) { recorder_->begin_pause(); }
GradientTape::Pause::~Pause() { recorder_->end_pause(); }
GradientTape::Pause GradientTape::pause() { return Pause(recorder_); }
std::vector<WatchedVariable> GradientTape::watched_variables() const { return recorder_->read_variables(); }

void GradientTape::watch(const Tensor& tensor) {
  if (!tensor.defined()) throw ArgumentError("watch: the tensor is an empty tensor handle; expected a tensor with a value.");
  if (!is_floating(tensor.dtype())) throw DtypeError(fmt::format("watch: the tensor is {}; {}.", describe(tensor), floating_rule));
  recorder_->watch(tensor.values());
}

void GradientTape::watch(const Variable& variable) {
  if (!is_floating(variable.dtype())) {
    const TensorSpec spec{variable.dtype(), variable.shape(), {}};
    throw DtypeError(fmt::format("watch: {} is {}; {}.", variable.name().empty() ? "the variable" : name_of(variable, 0), to_string(spec),
                                 floating_rule));
  }
  recorder_->watch(variable);
}

GradientTape::Tensors GradientTape::gradient(const Tensors& targets, const Variables& sources, const GradientOptions& options) {
  std::vector<Source> named;
  for (size_t i = 0; i < sources.size(); ++i) {
    const Variable& variable = sources[i];
    if (!variable.defined()) throw ArgumentError(fmt::format("gradient: source {} is a handle that refers to no variable.", i));
    const bool followed = recorder_->follows(*variable.state());
    named.push_back({.name = name_of(variable, i),
                     .tensors = recorder_->given_by(variable),
                     .spec = {variable.dtype(), variable.shape(), {}},
                     .advice = followed               ? "Read it after the tape was made."
                               : variable.trainable() ? "This tape follows only what watch() names."
                                                      : "It is not trainable: call watch() on it before it is read."});
  }
  return gradients_of(*recorder_, targets, named, options);
}

GradientTape::Tensors GradientTape::gradient(const Tensors& targets, const Tensors& sources, const GradientOptions& options) {
  std::vector<Source> named;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].defined())
      throw ArgumentError(fmt::format("gradient: source {} is an empty tensor handle; expected a watched tensor.", i));
    const Tensor source = sources[i].values();
    named.push_back({.name = fmt::format("source {}", i),
                     .tensors = {source},
                     .spec = {source.dtype(), source.shape(), {}},
                     .advice = "Call watch() on it before it is used."});
  }
  Tensors gradients = gradients_of(*recorder_, targets, named, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    const RaggedTensor* const ragged = as_ragged(sources[i]);
    if (ragged != nullptr && gradients[i].defined()) gradients[i] = make_ragged(gradients[i], ragged->partition);
  }
  return gradients;
}

GradientTape::Tensors GradientTape::gradient(const Tensor& target, const Variables& sources, const GradientOptions& options) {
  return gradient(Tensors{target}, sources, options);
}
GradientTape::Tensors GradientTape::gradient(const Tensor& target, const Tensors& sources, const GradientOptions& options) {
  return gradient(Tensors{target}, sources, options);
}
GradientTape::Tensors GradientTape::gradient(const Tensor& target, std::initializer_list<Variable> sources,
                                             const GradientOptions& options) {
  return gradient(Tensors{target}, Variables(sources), options);
}
GradientTape::Tensors GradientTape::gradient(const Tensor& target, std::initializer_list<Tensor> sources, const GradientOptions& options) {
  return gradient(Tensors{target}, Tensors(sources), options);
}
Tensor GradientTape::gradient(const Tensor& target, const Variable& source, const GradientOptions& options) {
  return gradient(Tensors{target}, Variables{source}, options)[0];
}
Tensor GradientTape::gradient(const Tensor& target, const Tensor& source, const GradientOptions& options) {
  return gradient(Tensors{target}, Tensors{source}, options)[0];
}

std::pair<Tensor, std::vector<Tensor>> value_and_gradients(const std::function<Tensor()>& body, const std::vector<Variable>& variables,
                                                           const GradientOptions& options) {
  GradientTape tape({.watch_variables = false});
  for (const Variable& variable : variables) tape.watch(variable);
  Tensor value = body();
  std::vector<Tensor> gradients = tape.gradient(value, variables, options);
  return {std::move(value), std::move(gradients)};
}

}  // namespace anyshape
