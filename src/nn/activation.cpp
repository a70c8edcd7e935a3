// Activations by name, by op and by callable.
#include "base/option_rules.h"
#include "config/lasting_registry.h"
#include "config/own_callable.h"
#include "graph/layer_path.h"
#include "nn/call_scope.h"

#include <anyshape/activation.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/registry.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace anyshape {
namespace {

using Op = Tensor (*)(const Tensor&);

Tensor linear(const Tensor& x) { return x; }

const std::array<std::pair<const char*, Op>, 19> known = {{
    {"linear", linear},
    {"relu", relu},
    {"relu6", relu6},
    {"leaky_relu", leaky_relu},
    {"elu", elu},
    {"selu", selu},
    {"gelu", gelu},
    {"silu", silu},
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

template <>
Registry& registry_of<ActivationFunction>() {
  return lasting_registry([] {
    auto* const made = new Registry("activation");
    for (const auto& [name, op] : known) {
      Registry::Entry entry = registered(name, +[] { return ActivationFunction(); });
      entry.make = [op, required = entry.make](const Config& config, void* result) {
        required(config, result);  // no fields
        if (op != linear) static_cast<std::optional<ActivationFunction>*>(result)->emplace(op);
      };
      entry.origin = reinterpret_cast<const void*>(op);
      if (op == static_cast<Op>(silu)) entry.aliases = {"swish"};
      made->add(std::move(entry));
    }
    return made;
  });
}

ActivationFunction::ActivationFunction(const std::string& name) : ActivationFunction(make<ActivationFunction>(name)) {}
ActivationFunction::ActivationFunction(const char* name) : ActivationFunction(std::string(name)) {}

ActivationFunction::ActivationFunction(Op op) : callable_(require::callable("activation", "the op", op)), name_("custom") {
  const auto* const found = std::ranges::find(known, op, [](const auto& each) { return each.second; });
  if (found != known.end()) name_ = found->first;
}

ActivationFunction::ActivationFunction(std::function<Tensor(const Tensor&)> callable)
    : callable_(require::callable("activation", "the callable", std::move(callable))), name_("custom") {}

void ActivationFunction::set_made(std::shared_ptr<const detail::Made> made) { made_ = std::move(made); }
Config ActivationFunction::config() const {
  return name_ == "custom" ? config_of_callable(made_, registry_of<ActivationFunction>(), callable_) : Config::object(name_);
}

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
