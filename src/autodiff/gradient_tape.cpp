// GradientTape and value_and_gradients: the public face of the recorder, with the errors that name a source.
#include "autodiff/recorder.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

std::string describe(const Variable& variable, size_t number) {
  return variable.name().empty() ? fmt::format("source {} (a variable without name)", number)
                                 : fmt::format("variable \"{}\"", variable.name());
}

[[noreturn]] void throw_unreached(const std::string& source, std::string_view advice) {
  throw ArgumentError(fmt::format(
      "gradient: the target does not depend on {}; expected sources that it was computed from under this tape. {}", source, advice));
}

}  // namespace

GradientTape::GradientTape(TapeOptions options) : recorder_(std::make_unique<Recorder>(options)) {}
GradientTape::~GradientTape() = default;

void GradientTape::watch(const Tensor& tensor) { recorder_->watch(tensor); }

std::vector<Tensor> GradientTape::gradient(const Tensor& target, const std::vector<Variable>& sources) {
  std::vector<std::vector<Tensor>> tensors;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].defined()) throw ArgumentError(fmt::format("gradient: source {} is a handle that refers to no variable.", i));
    tensors.push_back(recorder_->given_by(sources[i]));
  }
  const std::vector<std::optional<Tensor>> found = recorder_->gradient(target, tensors);
  std::vector<Tensor> result;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!found[i]) {
      throw_unreached(describe(sources[i], i),
                      sources[i].trainable() ? "Read it after the tape was made." : "It is not trainable, so the tape does not follow it.");
    }
    result.push_back(*found[i]);
  }
  return result;
}

std::vector<Tensor> GradientTape::gradient(const Tensor& target, std::initializer_list<Variable> sources) {
  return gradient(target, std::vector<Variable>(sources));
}

std::vector<Tensor> GradientTape::gradient(const Tensor& target, const std::vector<Tensor>& sources) {
  std::vector<std::vector<Tensor>> tensors;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].defined())
      throw ArgumentError(fmt::format("gradient: source {} is an empty tensor handle; expected a watched tensor.", i));
    tensors.push_back({sources[i]});
  }
  const std::vector<std::optional<Tensor>> found = recorder_->gradient(target, tensors);
  std::vector<Tensor> result;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!found[i]) throw_unreached(fmt::format("source {}", i), "Call watch() on it before it is used.");
    result.push_back(*found[i]);
  }
  return result;
}

Tensor GradientTape::gradient(const Tensor& target, const Variable& source) { return gradient(target, std::vector<Variable>{source})[0]; }
Tensor GradientTape::gradient(const Tensor& target, const Tensor& source) { return gradient(target, std::vector<Tensor>{source})[0]; }

std::pair<Tensor, std::vector<Tensor>> value_and_gradients(const std::function<Tensor()>& body, const std::vector<Variable>& variables) {
  GradientTape tape;
  Tensor value = body();
  std::vector<Tensor> gradients = tape.gradient(value, variables);
  return {std::move(value), std::move(gradients)};
}

}  // namespace anyshape
