// Weights under their paths, the optimizer's variables under their names, counters of random numbers under those of their layers.
#include "model/saved_state.h"

#include "base/cut_text.h"
#include "nn/named_weights.h"
#include "train/optimizer_impl.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace anyshape::model {
namespace {

constexpr std::string_view iterations = "iterations", learning_rate = "learning_rate";

}  // namespace

std::vector<std::pair<std::string, Variable>> named_slots(const Optimizer& optimizer) {
  std::vector<std::pair<std::string, Variable>> named;
  std::unordered_map<std::string, int> taken;
  for (const Variable& variable : optimizer.variables()) {
    const int number = ++taken[variable.name()];
    named.emplace_back(number == 1 ? variable.name() : fmt::format("{}#{}", variable.name(), number), variable);
  }
  return named;
}

void Assignments::add(std::string_view begin, const std::vector<std::pair<std::string, Variable>>& variables, const char* advice) {
  for (const auto& [name, variable] : variables) {
    const std::string whole = std::string(begin) + name;
    const auto found = file_.tensors().find(whole);
    const std::string wanted = to_string(TensorSpec{variable.dtype(), variable.shape(), {}});
    if (found == file_.tensors().end()) file_.refuse(fmt::format("has no tensor {}; expected {}. {}", in_quotes(whole), wanted, advice));
    const Tensor& tensor = found->second;
    if (tensor.dtype() != variable.dtype() || !tensor.shape().same_as(variable.shape())) {
      file_.refuse(fmt::format("has the tensor {} as {}; expected {}. {}", in_quotes(whole),
                               to_string(TensorSpec{tensor.dtype(), tensor.shape(), {}}), wanted, advice));
    }
    pairs_.emplace_back(variable, tensor);
  }
}

void Assignments::add_weights(const AnyLayer& network) {
  const auto weights = nn::named_weights(network);
  const char* const advice = "The weights of the model and of the file have to be the same";
  add("", weights, advice);
  std::unordered_set<std::string_view> names;
  for (const auto& weight : weights) names.insert(weight.first);
  for (const auto& each : file_.tensors()) {
    if (is_weight(each.first) && !names.contains(each.first)) {
      file_.refuse(fmt::format("has a tensor {}, which is no weight of the model. {}", in_quotes(each.first), advice));
    }
  }
  add(of_counters, nn::named_counters(network), advice);
}

void Assignments::add_optimizer(const Optimizer& optimizer) {
  add(of_optimizer, named_slots(optimizer), "The optimizer has to be of the same kind as the one that was saved");
}

void Assignments::make() const {
  for (const auto& [variable, tensor] : pairs_) variable.assign(tensor);
}

void expect_slots(const ModelFile& file, const Optimizer& optimizer) { optimizer.impl()->expect_slots(file.tensors_of(of_optimizer)); }

bool has_slots(const ModelFile& file) {
  const auto slots = file.tensors_of(of_optimizer);
  return std::ranges::any_of(slots, [](const auto& each) { return each.first != iterations && each.first != learning_rate; });
}

}  // namespace anyshape::model
