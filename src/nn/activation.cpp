// Activations by name, by op and by callable.
#include "base/near_names.h"
#include "graph/layer_path.h"
#include "nn/call_scope.h"

#include <anyshape/activation.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace anyshape {
namespace {

using Op = Tensor (*)(const Tensor&);

Tensor linear(const Tensor& x) { return x; }

const std::array<std::pair<const char*, Op>, 20> known = {{
    {"linear", linear},
    {"relu", relu},
    {"relu6", relu6},
    {"leaky_relu", leaky_relu},
    {"elu", elu},
    {"selu", selu},
    {"gelu", gelu},
    {"silu", silu},
    {"swish", silu},
    {"mish", mish},
    {"softplus", softplus},
    {"softsign", softsign},
    {"sigmoid", sigmoid},
    {"tanh", tanh},
    {"log_sigmoid", log_sigmoid},
    {"exponential", exp},
    {"softmax", softmax},
    {"log_softmax", log_softmax},
    {"hard_sigmoid", hard_sigmoid},
    {"square", square},
}};

}  // namespace

ActivationFunction::ActivationFunction(const std::string& name) : name_(name) {
  const auto* const found = std::ranges::find(known, name, [](const auto& each) { return std::string(each.first); });
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const auto& each : known) names.emplace_back(each.first);
    throw ArgumentError("activation: " + unknown_name("activation", name, names));
  }
  if (found->second != linear) callable_ = found->second;
}

ActivationFunction::ActivationFunction(const char* name) : ActivationFunction(std::string(name)) {}

ActivationFunction::ActivationFunction(Op op) : callable_(op), name_("custom") {
  const auto* const found = std::ranges::find(known, op, [](const auto& each) { return each.second; });
  if (found != known.end()) name_ = found->first;
}

ActivationFunction::ActivationFunction(std::function<Tensor(const Tensor&)> callable) : callable_(std::move(callable)), name_("custom") {}

Tensor ActivationFunction::operator()(const Tensor& x) const {
  if (is_linear()) return x;
  if (name_ != "custom") return callable_(x);
  // A user's may branch: it is traced as a scope of its own.
  return nn::run_in_scope([&]() -> std::vector<Tensor> {
    const Tensor result = callable_(x);
    if (!result.defined())
      throw ArgumentError(fmt::format("activation: it gave an empty tensor handle; expected a tensor.{}", current_place()));
    return {result};
  })[0];
}

}  // namespace anyshape
