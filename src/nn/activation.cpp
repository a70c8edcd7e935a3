// Activations by name, by op, with options and by callable.
#include "base/option_rules.h"
#include "config/lasting_registry.h"
#include "config/own_callable.h"
#include "graph/layer_path.h"
#include "nn/activation_impl.h"
#include "nn/call_scope.h"

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
using nn::Probability;

// Ops without options.
struct PlainOp {
  const char* name;
  Op op;
  std::optional<Probability> result_is = {};
};
const std::array<PlainOp, 13> plain_ops = {{
    {"relu", relu},
    {"relu6", relu6},
    {"selu", selu},
    {"silu", silu},
    {"mish", mish},
    {"softplus", softplus},
    {"softsign", softsign},
    {"sigmoid", sigmoid, Probability::Sigmoid},
    {"tanh", tanh},
    {"log_sigmoid", log_sigmoid},
    {"exponential", exp},
    {"hard_sigmoid", hard_sigmoid},
    {"square", square},
}};

ActivationFunction plain(const PlainOp& plain) {
  return ActivationFunction(std::make_shared<const detail::ActivationImpl>(detail::ActivationImpl{
      .callable = plain.op, .name = plain.name, .made = detail::made_from(plain.name), .result_is = plain.result_is}));
}

// Ops with options, which as ops alone have their defaults.
template <class Options>
ActivationFunction with_options(const char* name, Tensor (*op)(const Tensor&, Options), Options options,
                                std::optional<Probability> result_is = {}) {
  return ActivationFunction(std::make_shared<const detail::ActivationImpl>(
      detail::ActivationImpl{.callable = [op, options](const Tensor& x) { return op(x, options); },
                             .name = name,
                             .made = detail::made_from(name, options),
                             .result_is = result_is}));
}
struct OpOfOptions {
  Op op;
  ActivationFunction (*with_defaults)();
};
const std::array<OpOfOptions, 5> ops_of_options = {{
    {elu, [] { return activations::elu(); }},
    {gelu, [] { return activations::gelu(); }},
    {leaky_relu, [] { return activations::leaky_relu(); }},
    {softmax, [] { return activations::softmax(); }},
    {log_softmax, [] { return activations::log_softmax(); }},
}};

ActivationFunction of_op(Op op) {
  const auto* const found = std::ranges::find(plain_ops, op, &PlainOp::op);
  if (found != plain_ops.end()) return plain(*found);
  const auto* const with_options = std::ranges::find(ops_of_options, op, &OpOfOptions::op);
  if (with_options != ops_of_options.end()) return with_options->with_defaults();
  return std::function<Tensor(const Tensor&)>(op);
}

}  // namespace

ActivationFunction activations::elu(EluOptions options) { return with_options("elu", anyshape::elu, options); }
ActivationFunction activations::gelu(GeluOptions options) { return with_options("gelu", anyshape::gelu, options); }
ActivationFunction activations::leaky_relu(LeakyReluOptions options) { return with_options("leaky_relu", anyshape::leaky_relu, options); }
ActivationFunction activations::softmax(AxisOptions options) {
  // Losses take logits whose classes lie along the last axis.
  return with_options("softmax", anyshape::softmax, options, options.axis == -1 ? std::optional(Probability::Softmax) : std::nullopt);
}
ActivationFunction activations::log_softmax(AxisOptions options) { return with_options("log_softmax", anyshape::log_softmax, options); }

template <>
Registry& registry_of<ActivationFunction>() {
  return lasting_registry([] {
    auto* const made = new Registry("activation");
    detail::RegistryTable& table = made->table();
    table.add(detail::registered("linear", +[] { return ActivationFunction(); }));
    for (const PlainOp& each : plain_ops) {
      detail::RegistryEntry entry = detail::registered(each.name, +[] { return ActivationFunction(); });
      entry.make = [&each, without_fields = entry.make](const Config& config, void* result) {
        without_fields(config, result);
        static_cast<std::optional<ActivationFunction>*>(result)->emplace(plain(each));
      };
      entry.origin = &each;
      if (each.op == static_cast<Op>(silu)) entry.aliases = {"swish"};
      table.add(std::move(entry));
    }
    table.add(detail::registered("elu", activations::elu));
    table.add(detail::registered("gelu", activations::gelu));
    table.add(detail::registered("leaky_relu", activations::leaky_relu));
    table.add(detail::registered("softmax", activations::softmax));
    table.add(detail::registered("log_softmax", activations::log_softmax));
    return made;
  });
}

ActivationFunction::ActivationFunction(const std::string& name) : ActivationFunction(make<ActivationFunction>(name)) {}
ActivationFunction::ActivationFunction(const char* name) : ActivationFunction(std::string(name)) {}
ActivationFunction::ActivationFunction(Op op) : ActivationFunction(of_op(require::callable("activation", "the op", op))) {}
ActivationFunction::ActivationFunction(std::function<Tensor(const Tensor&)> callable)
    : impl_(std::make_shared<const detail::ActivationImpl>(
          detail::ActivationImpl{.callable = require::callable("activation", "the callable", std::move(callable)), .is_own = true})) {}

const std::string& ActivationFunction::name() const {
  static const std::string linear = "linear";
  return is_linear() ? linear : impl_->name;
}

void ActivationFunction::set_made(std::shared_ptr<const detail::Made> made) {
  if (is_linear()) throw ArgumentError("activation: the linear one is given another name; expected a callable.");
  detail::ActivationImpl copy = *impl_;
  copy.made = std::move(made);
  impl_ = std::make_shared<const detail::ActivationImpl>(std::move(copy));
}
Config ActivationFunction::config() const {
  return is_linear() ? Config::object(name()) : config_of_callable(impl_->made, registry_of<ActivationFunction>(), impl_->callable);
}

Tensor ActivationFunction::operator()(const Tensor& x) const {
  if (is_linear()) return x;
  if (!impl_->is_own) return impl_->callable(x);
  // A user's may branch: it is traced as a scope of its own.
  return nn::run_in_scope([&]() -> std::vector<Tensor> {
    const Tensor result = impl_->callable(x);
    if (!result.defined())
      throw ArgumentError(fmt::format("activation: it gave an empty tensor handle; expected a tensor.{}", current_place()));
    return {result};
  })[0];
}

}  // namespace anyshape
