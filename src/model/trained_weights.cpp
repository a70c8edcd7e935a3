// Texts about weights that are not trained.
#include "model/trained_weights.h"

#include "base/log.h"
#include "nn/named_weights.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace anyshape::model {
namespace {

constexpr size_t most_named = 10;
constexpr const char* cure = "Take layers in with child(), and make weights with weight() in build().";

std::string listed(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), most_named);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// Trainable variables that the step reads and the network does not own: "variable" f32[3, 4].
std::vector<std::string> foreign(const NamedWeights& own, const std::vector<WatchedVariable>& read) {
  std::unordered_set<uint64_t> ids;
  for (const auto& weight : own) ids.insert(weight.second.id());
  std::vector<std::string> names;
  for (const WatchedVariable& variable : read) {
    if (ids.contains(variable.id)) continue;
    names.push_back(fmt::format("{} {}", variable.spec.name.empty() ? "one without name," : fmt::format("\"{}\"", variable.spec.name),
                                to_string(TensorSpec{variable.spec.dtype, variable.spec.shape, {}})));
  }
  return names;
}

std::vector<std::string> paths_without_gradient(const NamedWeights& own, const std::vector<Variable>& variables,
                                                const std::vector<Tensor>& gradients) {
  std::unordered_set<uint64_t> ids;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i].defined()) ids.insert(variables[i].id());
  }
  std::vector<std::string> paths;
  for (const auto& [path, weight] : own) {
    if (ids.contains(weight.id())) paths.push_back(fmt::format("\"{}\"", path));
  }
  return paths;
}

[[noreturn]] void refuse(const NamedWeights& own, const std::vector<std::string>& without, const std::vector<std::string>& others) {
  const std::string tail = others.empty()
                               ? ""
                               : fmt::format(" The step reads {} trainable variable{} that {} not the model's: {}. {}", others.size(),
                                             others.size() == 1 ? "" : "s", others.size() == 1 ? "is" : "are", listed(others), cure);
  if (own.empty()) {
    throw ArgumentError(fmt::format("train_step: no weight of the model gets a gradient: it has no weights; expected at least one.{}",
                                    others.empty() ? fmt::format(" {}", cure) : tail));
  }
  if (without.empty()) {
    throw ArgumentError(
        fmt::format("train_step: no weight of the model gets a gradient: none of its {} is trainable; expected at least one. Call "
                    "set_trainable(true) on the layers to train.{}",
                    own.size(), tail));
  }
  throw ArgumentError(
      fmt::format("train_step: no weight of the model gets a gradient: the loss does not depend on {}; expected a loss computed from the "
                  "predictions by ops that have a gradient: argmax, comparisons, casts to integers and stop_gradient have none, and that "
                  "of round, floor and sign is 0 "
                  "everywhere.{}",
                  listed(without), tail));
}

}  // namespace

bool Warned::is_new(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  return std::exchange(last_, text) != text;
}

std::shared_ptr<const NamedWeights> Warned::weights_of(const AnyLayer& network) {
  const uint64_t id = network.identity().id(), version = network.identity().version();
  const std::scoped_lock lock(mutex_);
  if (weights_ == nullptr || network_ != id || version_ != version) {
    weights_ = std::make_shared<const NamedWeights>(nn::named_weights(network));
    network_ = id;
    version_ = version;
  }
  return weights_;
}

void require_trained(const AnyLayer& network, const std::vector<Variable>& variables, const std::vector<Tensor>& gradients,
                     const std::vector<WatchedVariable>& read, Warned& warned) {
  const std::shared_ptr<const NamedWeights> known = warned.weights_of(network);
  const NamedWeights& own = *known;
  const std::vector<std::string> without = paths_without_gradient(own, variables, gradients), others = foreign(own, read);
  if (std::ranges::none_of(gradients, [](const Tensor& gradient) { return gradient.defined(); })) refuse(own, without, others);
  std::string text;
  if (!without.empty()) {
    text = fmt::format("train_step: {} of {} trainable weights get no gradient, since the loss does not depend on them: {}.",
                       without.size(), variables.size(), listed(without));
  }
  if (!others.empty()) {
    text += fmt::format("{}{} trainable variable{} read by the step and not trained, since the model does not own {}: {}. {}",
                        text.empty() ? "train_step: " : " ", others.size(), others.size() == 1 ? " is" : "s are",
                        others.size() == 1 ? "it" : "them", listed(others), cure);
  }
  if (!text.empty() && warned.is_new(text)) log_warning(text);
}

void warn_of_no_weights(const AnyLayer& network, Warned& warned) {
  if (!network.trainable_variables().empty()) return;
  const std::string text = fmt::format("train_step: the model has no trainable weights for the .step to train. {}", cure);
  if (warned.is_new(text)) log_warning(text);
}

}  // namespace anyshape::model
